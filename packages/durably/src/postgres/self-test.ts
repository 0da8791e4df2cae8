// SelfTest — checks that messages of other connections arrive. A pooler in transaction mode accepts LISTEN and delivers nothing.
// The probe is sent over another connection: one from the listener itself might arrive by chance.
import { type Env, within } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import { Waiter } from '../model/waiter.ts'
import { probeMessage } from './change-message.ts'
import { openPool, type PostgresPool } from './pool.ts'
import { resilientPool } from './resilient-pool.ts'

const ARRIVES_MS_MAX = 2000

export interface SelfTestDeps {
  env: Env
  /** The pool or the URL of the store. */
  place: string | PostgresPool
  channel: string
  name: string
}

export class SelfTest {
  readonly #deps: SelfTestDeps
  #expected: string | null = null
  readonly #arrival = new Waiter()

  constructor(deps: SelfTestDeps) {
    this.#deps = deps
  }

  receive(probe: string): void {
    if (probe === this.#expected) this.#arrival.wake()
  }

  /** Rejects if the probe does not arrive in time. The time counts from when it was sent, because the pool may be busy before. */
  async run(): Promise<void> {
    const { env, name } = this.#deps
    const probe = env.id()
    const arrived = this.#arrival.wait()
    this.#expected = probe
    await this.#sendFromOtherConnection(probeMessage(name, probe))
    if (!(await within(env, ARRIVES_MS_MAX, arrived))) throw new DurablyError('notifications_unavailable', PROBE_LOST)
  }

  async #sendFromOtherConnection(payload: string): Promise<void> {
    const { place, channel } = this.#deps
    const ours = typeof place === 'string'
    const pool = resilientPool(ours ? await openPool(place, 1) : place, { prepare: false, ours })
    try {
      const client = await pool.connect()
      await client.query('SELECT pg_notify($1, $2)', [channel, payload]).finally(() => client.release())
    } finally {
      void pool.end().catch(() => {})
    }
  }
}

const PROBE_LOST =
  'there are no notifications, because messages of other connections do not arrive, as behind a pooler in transaction mode. ' +
  'Give postgres() the URL of a direct or session connection as listenUrl. Polling goes on'
