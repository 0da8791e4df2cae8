// RegisterWatch — I67: a worker that knows that it is detached, or that its name is taken, starts nothing. One that drains takes only what was
// chosen for it, and so does every worker whose runs a leader chooses. The others leave runs to workers that these prefer.
import type { WorkerState } from '../../store/cluster/workers.ts'
import type { Store } from '../../store/store.ts'
import type { Violation } from '../invariants/index.ts'
import type { SimProcess } from './sim-process.ts'
import { withVerbs } from './with-verbs.ts'

export class RegisterWatch {
  readonly violations: Violation[] = []
  readonly #process: SimProcess
  readonly #isLed: boolean
  #state: WorkerState | null = null

  /** `isLed`: a leader chooses its runs. */
  constructor(process: SimProcess, isLed: boolean) {
    this.#process = process
    this.#isLed = isLed
  }

  over(store: Store): Store {
    const { runs, cluster } = store
    if (!cluster) return store
    return {
      ...store,
      runs: withVerbs(runs, {
        claim: (request) => {
          this.#broken('claims runs that others may be preferred for')
          return runs.claim(request)
        },
      }),
      cluster: withVerbs(cluster, {
        attend: async (entry) => {
          this.#state = await cluster.attend(entry)
          return this.#state
        },
        claimOpen: (request) => {
          if (this.#isLed || this.#state !== 'attached') this.#broken('claims runs that nobody chose for it')
          return cluster.claimOpen(request)
        },
        claimAssigned: (request) => {
          if (this.#state === null || this.#state === 'detached') this.#broken('starts runs')
          return cluster.claimAssigned(request)
        },
      }),
    }
  }

  #broken(what: string): void {
    const state = this.#state ?? 'not in the register'
    this.violations.push({ invariant: 'I67', runId: null, what: `${this.#process.name} is ${state}, and ${what}` })
  }
}
