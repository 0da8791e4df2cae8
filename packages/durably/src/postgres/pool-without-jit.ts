// PoolWithoutJit — a pool whose connections have Postgres' JIT compiler turned off. Our statements read few rows each, but beside a large table
// Postgres may expect them to cost enough to be compiled, which takes fifty times as long as to run them.
//   J1. It is a setting of the connection's start, so it costs no round trip, and behind a pooler it cannot reach the sessions of others.
//   J2. Some poolers refuse such settings. Then the connections are opened without it.
//   J3. What `options` of the URL or PGOPTIONS say is kept: the URL replaces ours, and of PGOPTIONS the later setting counts.
import type { PostgresClient, PostgresPool } from './pool.ts'

const JIT_OFF = '-c jit=off'
/** What PgBouncer answers, what the proxy of RDS answers, and a server that does not know the setting. */
const REFUSALS: readonly unknown[] = ['08P01', '0A000', '42704']

export class PoolWithoutJit implements PostgresPool {
  readonly #open: (options: { options?: string }) => PostgresPool
  readonly #listeners: ((pool: PostgresPool) => unknown)[] = []
  #pool: PostgresPool
  #isRefused = false

  constructor(open: (options: { options?: string }) => PostgresPool) {
    this.#open = open
    this.#pool = open({ options: [JIT_OFF, globalThis.process?.env.PGOPTIONS].filter(Boolean).join(' ') })
  }

  async connect(): Promise<PostgresClient> {
    const pool = this.#pool
    try {
      return await pool.connect()
    } catch (error) {
      const isRefusal = error instanceof Error && 'code' in error && REFUSALS.includes(error.code)
      if (pool === this.#pool && (!isRefusal || this.#isRefused)) throw error
      if (pool === this.#pool) await this.#replace(pool)
      return this.#pool.connect()
    }
  }

  /** J2. */
  async #replace(refused: PostgresPool): Promise<void> {
    this.#isRefused = true
    this.#pool = this.#open({})
    for (const listen of this.#listeners) listen(this.#pool)
    await refused.end()
  }

  on(event: string, listener: (given: never) => void): unknown {
    const listen = (pool: PostgresPool) => pool.on(event as 'connect', listener as () => void)
    this.#listeners.push(listen)
    return listen(this.#pool)
  }

  end(): Promise<void> {
    return this.#pool.end()
  }
}
