// UnheardRejections — I74: no promise is rejected that nobody listens to. Node ends the process of a user for that.
import { nextTurn, systemEnv } from '../../model/env.ts'
import type { Violation } from '../invariants/index.ts'

export class UnheardRejections {
  readonly #reasons: unknown[] = []
  readonly #listener = (reason: unknown) => void this.#reasons.push(reason)

  constructor() {
    process.on('unhandledRejection', this.#listener)
  }

  /** Node tells of them between two turns of its event loop. */
  async end(): Promise<Violation[]> {
    await nextTurn(systemEnv())
    process.off('unhandledRejection', this.#listener)
    return this.#reasons.map((reason) => ({ invariant: 'I74', runId: null, what: `nobody heard the rejection ${String(reason)}` }))
  }
}
