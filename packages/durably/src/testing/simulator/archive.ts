// Archive — keeps what is purged from a simulated world, for the judgement, and looks at what goes.
//   I33. Only what has ended, and long enough ago, is purged; no child while the run that triggered it may ask for it, and no cancelled
//        run while one that it triggered has not ended.
import type { EventRow } from '../../model/event.ts'
import { isTerminal, type RunRow } from '../../model/run.ts'
import type { StepRow } from '../../model/step.ts'
import { isFinal } from '../../model/transitions.ts'
import type { RunStore } from '../../store/runs.ts'
import type { Store } from '../../store/store.ts'
import { readRows, type Violation } from '../invariants/index.ts'

export class Archive {
  readonly runs: RunRow[] = []
  readonly steps: StepRow[] = []
  readonly events: EventRow[] = []
  readonly violations: Violation[] = []
  readonly #now: () => number

  /** `now`: the store's clock. */
  constructor(now: () => number) {
    this.#now = now
  }

  get ids(): ReadonlySet<string> {
    return new Set(this.runs.map(({ id }) => id))
  }

  over(store: Store): Store {
    const purge: RunStore['purge'] = async (request) => {
      const before = await readRows(store)
      const count = await store.runs.purge(request)
      const left = new Set((await store.runs.list({})).map(({ id }) => id))
      this.#keep(before, left, request.olderThanMs)
      return count
    }
    return { ...store, runs: { ...store.runs, purge } }
  }

  #keep({ runs, steps, events }: Awaited<ReturnType<typeof readRows>>, left: ReadonlySet<string>, olderThanMs: number): void {
    const byId = new Map(runs.map((run) => [run.id, run]))
    const active = new Set(runs.filter(({ status }) => !isTerminal(status)).map(({ id }) => id))
    const isGone = (id: string) => !left.has(id)
    for (const run of runs.filter(({ id }) => isGone(id))) {
      const broken = (what: string) => this.violations.push({ invariant: 'I33', runId: run.id, what: `was purged, but ${what}` })
      if (active.has(run.id)) broken(`it was ${run.status}`)
      else if (run.finishedAt === null || run.finishedAt > this.#now() - olderThanMs) broken('it ended not long enough ago')
      const parent = run.parentRunId === null ? undefined : byId.get(run.parentRunId)
      if (parent && !isFinal(parent.status)) broken(`the run that triggered it was ${parent.status}`)
      if (run.status === 'cancelled' && runs.some(({ id, parentRunId }) => parentRunId === run.id && active.has(id)))
        broken('a run that it triggered has not ended')
      this.runs.push(run)
    }
    this.steps.push(...steps.filter(({ runId }) => isGone(runId)))
    this.events.push(...events.filter(({ runId }) => isGone(runId)))
  }
}
