// Archive — keeps the rows that are purged or deleted in a simulated world, for the checks at the end, and checks each deletion.
//   I33. Only ended runs are deleted, and by a purge only those that ended long enough ago. A child stays while its parent may ask for
//        it: until the parent has completed, was cancelled or is deleted. A cancelled run stays while one of its children has not ended.
import type { EventRow } from '../../model/event.ts'
import { isTerminal, type RunRow } from '../../model/run.ts'
import type { StepRow } from '../../model/step.ts'
import { isFinal } from '../../model/transitions.ts'
import type { IfVersion, PurgeRequest, RunStore } from '../../store/runs.ts'
import type { Store } from '../../store/store.ts'
import { readRows, type Violation } from '../invariants/index.ts'
import { ExclusiveTurn } from './exclusive-turn.ts'
import { isWithin } from './store-line.ts'

type Verb = (...args: unknown[]) => Promise<unknown>

export class Archive {
  readonly runs: RunRow[] = []
  readonly steps: StepRow[] = []
  readonly events: EventRow[] = []
  readonly violations: Violation[] = []
  deleted = 0
  /** The place of each purge and deletion, by run. */
  readonly places = new Map<string, number>()
  readonly #now: () => number
  readonly #place: () => number

  /** `now`: the store's clock. `place`: the next number in the order of all notes. */
  constructor(now: () => number, place: () => number) {
    this.#now = now
    this.#place = place
  }

  /**
   * Reads the rows before they are deleted, with no write in between: a database may let a purge wait behind a write that ends a run.
   * `reads`: the same store, with what was moved to files.
   */
  over(store: Store, reads = store): Store {
    const turn = new ExclusiveTurn()
    const besideOthers =
      (invoke: Verb): Verb =>
      (...args) =>
        // A call inside of a transaction must not wait for anything else: the transaction would not end.
        isWithin(args[1]) ? invoke(...args) : turn.beside(() => invoke(...args))
    const beside = <T extends object>(verbs: T): T =>
      Object.fromEntries(Object.entries<Verb>(verbs as Record<string, Verb>).map(([name, invoke]) => [name, besideOthers(invoke)])) as T
    const { logs, transact } = store
    return {
      ...store,
      runs: {
        ...beside(store.runs),
        purge: (request) => turn.alone(() => this.#purge(store, reads, request)),
        delete: (id, options) => turn.alone(() => this.#delete(store, reads, id, options)),
      },
      steps: beside(store.steps),
      events: beside(store.events),
      // Loaded lazily, so its verbs cannot be listed.
      logs: {
        append: (lines) => turn.beside(() => logs.append(lines)),
        list: (...page) => turn.beside(() => logs.list(...page)),
        find: (...lines) => turn.beside(() => logs.find(...lines)),
      },
      signals: beside(store.signals),
      ...(transact && { transact: (body) => turn.beside(() => transact(body)) }),
    }
  }

  async #purge(store: Store, reads: Store, request: PurgeRequest): Promise<number> {
    const before = await readRows(reads, ({ status }) => isTerminal(status))
    const count = await store.runs.purge(request)
    if (count > 0) {
      const left = new Set((await store.runs.list({})).map(({ id }) => id))
      this.#keep(before, left, request.olderThanMs)
    }
    return count
  }

  async #delete(store: Store, reads: Store, id: string, options?: IfVersion): ReturnType<RunStore['delete']> {
    const before = await readRows(reads, (run) => run.id === id)
    const answer = await store.runs.delete(id, options)
    if (answer?.outcome === 'deleted') {
      this.deleted++
      this.#keep(before, new Set(before.runs.map((run) => run.id).filter((other) => other !== id)), null)
    }
    return answer
  }

  #keep({ runs, steps, events }: Awaited<ReturnType<typeof readRows>>, left: ReadonlySet<string>, olderThanMs: number | null): void {
    const byId = new Map(runs.map((run) => [run.id, run]))
    const active = runs.filter(({ status }) => !isTerminal(status))
    const isGone = (id: string) => !left.has(id)
    for (const run of runs.filter(({ id }) => isGone(id))) {
      const broken = (what: string) =>
        this.violations.push({ invariant: 'I33', runId: run.id, what: `was ${olderThanMs === null ? 'deleted' : 'purged'}, but ${what}` })
      if (!isTerminal(run.status)) broken(`it was ${run.status}`)
      else if (olderThanMs !== null && (run.finishedAt ?? Number.POSITIVE_INFINITY) > this.#now() - olderThanMs)
        broken('it ended not long enough ago')
      const parent = byId.get(run.parentRunId ?? '')
      if (parent && !isFinal(parent.status)) broken(`the run that triggered it is ${parent.status}`)
      if (run.status === 'cancelled' && active.some(({ parentRunId }) => parentRunId === run.id))
        broken('a run that it triggered has not ended')
      this.runs.push(run)
      this.places.set(run.id, this.#place())
    }
    this.steps.push(...steps.filter(({ runId }) => isGone(runId)))
    this.events.push(...events.filter(({ runId }) => isGone(runId)))
  }
}
