// ExplainedRuns — checks `explain()` on every unfinished run.
//   I39. The remedy that it names would make the run due, by the rules of the store.
import { jsonCodec } from '../../model/codec.ts'
import { decisionName } from '../../model/decision-name.ts'
import { decodeEffects } from '../../model/effect.ts'
import { isTerminal, type RunRow, toRun } from '../../model/run.ts'
import { wakesBySignal } from '../../model/wait.ts'
import { explainRun } from '../../runs/explain/explain-run.ts'
import type { Explanation } from '../../runs/explain/explanation.ts'
import type { Store } from '../../store/store.ts'
import type { Violation } from '../invariants/index.ts'

interface ExplainedRunsDeps {
  store: Store
  listRuns: () => Promise<RunRow[]>
  storeMs: () => number
  /** It was purged or deleted. */
  isGone: (runId: string) => boolean
}

const BUSY_WORKER = { hasJob: () => true, isWorking: true, slots: 1, freeSlots: 0, executes: () => false }

export class ExplainedRuns {
  readonly violations: Violation[] = []
  readonly #deps: ExplainedRunsDeps
  readonly #codec = jsonCodec()
  /** Settles when the explanations that nobody waits for are read. */
  looked: Promise<unknown> = Promise.resolve()

  constructor(deps: ExplainedRunsDeps) {
    this.#deps = deps
  }

  /** While the world goes on. */
  lookAtAll(): void {
    const failed = (error: unknown) =>
      void this.violations.push({ invariant: 'I39', runId: null, what: `there is no explanation: ${error}` })
    const looked = this.#deps.listRuns().then((runs) => this.look(runs))
    this.looked = Promise.all([this.looked, looked.catch(failed)])
  }

  async look(runs: readonly RunRow[]): Promise<void> {
    const { store, storeMs, isGone } = this.#deps
    const deps = {
      runs: store.runs,
      steps: store.steps,
      env: { wall: storeMs },
      process: BUSY_WORKER,
      see: (row: RunRow) => toRun(row, this.#codec, storeMs()),
    }
    for (const { id, status } of runs) {
      if (isTerminal(status)) continue
      // It may end and be purged after it was listed: a transaction of a user can hold the only connection for seconds.
      const explained = await explainRun(deps, id).catch((error: unknown) => {
        if (!isGone(id)) throw error
      })
      if (!explained) continue
      const rootId = explained.chain.at(-1)?.runId ?? id
      const root = await store.runs.get(rootId)
      if (isGone(rootId)) continue
      if (!root || !isRemedied(root, explained))
        this.violations.push({ invariant: 'I39', runId: id, what: `the remedy of its explanation does not make it due: ${explained.text}` })
    }
  }
}

function isRemedied(root: RunRow, { cause, remedy }: Explanation): boolean {
  switch (remedy.do) {
    case 'signal':
      return wakesBySignal(root, remedy.name)
    case 'decide': {
      const effect = decodeEffects(root.effects).find(({ name }) => name === remedy.step)
      return effect !== undefined && wakesBySignal(root, decisionName(effect.name, effect.generation))
    }
    case 'wait':
      return remedy.until === null || root.runAt <= Date.parse(remedy.until)
    default:
      // The run may have ended while its explanation was read.
      return cause !== 'ended' || isTerminal(root.status)
  }
}
