// Whether what others send arrives. A pooler that hands out connections per transaction takes LISTEN and delivers nothing.
// The probe comes over another connection: on its own the listener might hear it by chance.
import { type Env, within } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import { Waiter } from '../model/waiter.ts'
import { probeMessage } from './change-message.ts'
import { openPool, type PostgresPool } from './pool.ts'
import { resilientPool } from './resilient-pool.ts'

const ARRIVES_MS_MAX = 2000

export interface SelfTestDeps {
  env: Env
  /** Where the store is. */
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

  hear(probe: string): void {
    if (probe === this.#expected) this.#arrival.wake()
  }

  /** Rejects if it fails. The time counts from the moment the probe is sent: a pool may be busy for long. */
  async run(): Promise<void> {
    const { env, name } = this.#deps
    const probe = env.id()
    const arrived = this.#arrival.wait()
    this.#expected = probe
    await this.#sendFromElsewhere(probeMessage(name, probe))
    if (!(await within(env, ARRIVES_MS_MAX, arrived))) throw new DurablyError('notifications_unavailable', NOTHING_ARRIVES)
  }

  async #sendFromElsewhere(payload: string): Promise<void> {
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

const NOTHING_ARRIVES =
  'no notifications: the connection that listens does not hear what others send, as behind a pooler in transaction mode. ' +
  'Give postgres() the URL of a direct or session connection as listenUrl. Polling goes on'
