// resilientPool — the pool that Kysely's PostgresDialect asks for, on top of a pool of `pg` whose connections may break.
//   L1. Every connection has an `error` listener: `pg` reports an unexpected end as an `error` event, and an `error` event without a
//       listener ends the process (node-postgres#1324). The query that was under way rejects all the same. The listener is added in
//       the pool's `connect` event, because the end can come in the same packet as the server's greeting.
//   L2. A connection that the server has ended is not given back: the pool may notice its end only after the next caller has got it.
//   L3. A statement that is sent repeatedly gets a name, so that the server parses it once per connection.
//   L4. A query waits a limited time for its reply. After that its outcome is unknown, and its connection is not used again: the next
//       statement would wait behind it, and could take its late reply for its own.
import type { PostgresPool as KyselyPool, PostgresPoolClient } from 'kysely'
import { isConnectionLost, isOutdatedPlan } from '../store/sql/postgres/classify-error.ts'
import type { PostgresClient, PostgresPool, PostgresResult } from './pool.ts'
import { StatementNames } from './statement-names.ts'

/** Longer than any statement but those of migrations. */
export const QUERY_MS_MAX = 30_000

export interface ResilientPoolOptions {
  prepare: boolean
  queryTimeoutMs?: number
  /** The dialect made the pool, and ends it. */
  ours: boolean
}

export function resilientPool(pool: PostgresPool, { prepare, queryTimeoutMs = QUERY_MS_MAX, ours }: ResilientPoolOptions): KyselyPool {
  const names = new StatementNames()
  const clients = new WeakMap<PostgresClient, PostgresPoolClient>()
  handleAllErrors(pool)

  return {
    async connect() {
      const client = await pool.connect()
      const known = clients.get(client)
      if (known) return known
      handleErrors(client)
      const made = resilientClient(client, prepare ? names : null, queryTimeoutMs)
      clients.set(client, made)
      return made
    },
    async end() {
      if (ours) await pool.end()
    },
  }
}

const handled = new WeakSet<PostgresPool | PostgresClient>()

/** Adds the listeners once, also when several dialects share the pool. */
function handleAllErrors(pool: PostgresPool): void {
  if (handled.has(pool)) return
  handleErrors(pool)
  pool.on('connect', handleErrors)
}

function handleErrors(emitter: PostgresPool | PostgresClient): void {
  if (handled.has(emitter)) return
  handled.add(emitter)
  emitter.on('error', () => {})
}

function resilientClient(client: PostgresClient, names: StatementNames | null, queryTimeoutMs: number): PostgresPoolClient {
  let isLost = false
  async function query(text: string, values: readonly unknown[]): Promise<PostgresResult> {
    if (isLost) throw new Error('the connection is lost')
    const name = names?.of(text, values)
    try {
      return await client.query({ text, values: [...values], query_timeout: queryTimeoutMs, ...(name !== undefined && { name }) })
    } catch (error) {
      if (isOutdatedPlan(error)) names?.renew()
      isLost ||= isConnectionLost(error)
      throw error
    }
  }
  return {
    // A cursor is passed on unchanged.
    query: ((textOrCursor: unknown, values: readonly unknown[] = []) =>
      typeof textOrCursor === 'string' ? query(textOrCursor, values) : client.query(textOrCursor as never)) as PostgresPoolClient['query'],
    release: () => client.release(isLost),
  }
}
