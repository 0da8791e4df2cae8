// What Kysely's PostgresDialect wants of a pool, over one of `pg`.
//   L1. Every connection has a listener for its end. `pg` tells an unexpected one as an event, and an event `error` that
//       nobody hears ends the process (node-postgres#1324). The call that was under way is rejected all the same.
//       It is there from the pool's own event on: the end can come in the same packet as the server's welcome.
//   L2. A connection that the server has ended is not given back: the pool may hear of its end later than the next call.
//   L3. Statements that come again get a name: the server parses them once per connection.
//   L4. A reply that does not come is waited for so long and no longer. What became of the statement is unknown, and on its
//       connection nothing is sent after it: another statement would wait behind it, and an answer could be taken for its own.
import type { PostgresPool as KyselyPool, PostgresPoolClient } from 'kysely'
import { isConnectionLost, isOutdatedPlan } from '../store/sql/dialect/postgres/classify-error.ts'
import type { PostgresClient, PostgresPool, PostgresResult } from './pool.ts'
import { StatementNames } from './statement-names.ts'

/** Long against every statement but those of migrations, short against a connection that is silent for ever. */
export const QUERY_MS_MAX = 30_000

export interface ResilientPoolOptions {
  prepare: boolean
  queryTimeoutMs?: number
  /** The pool ends with the dialect. */
  ours: boolean
}

export function resilientPool(pool: PostgresPool, { prepare, queryTimeoutMs = QUERY_MS_MAX, ours }: ResilientPoolOptions): KyselyPool {
  const names = new StatementNames()
  const clients = new WeakMap<PostgresClient, PostgresPoolClient>()
  hearAll(pool)

  return {
    async connect() {
      const client = await pool.connect()
      const known = clients.get(client)
      if (known) return known
      hear(client)
      const made = resilientClient(client, prepare ? names : null, queryTimeoutMs)
      clients.set(client, made)
      return made
    },
    async end() {
      if (ours) await pool.end()
    },
  }
}

const heard = new WeakSet<PostgresPool | PostgresClient>()

/** Once, however many dialects share it. */
function hearAll(pool: PostgresPool): void {
  if (heard.has(pool)) return
  hear(pool)
  pool.on('connect', hear)
}

function hear(emitter: PostgresPool | PostgresClient): void {
  if (heard.has(emitter)) return
  heard.add(emitter)
  emitter.on('error', () => {})
}

function resilientClient(client: PostgresClient, names: StatementNames | null, queryTimeoutMs: number): PostgresPoolClient {
  let isLost = false
  async function query(text: string, values: readonly unknown[]): Promise<PostgresResult> {
    if (isLost) throw new Error('the connection was lost before')
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
    // A cursor is sent as it is.
    query: ((textOrCursor: unknown, values: readonly unknown[] = []) =>
      typeof textOrCursor === 'string' ? query(textOrCursor, values) : client.query(textOrCursor as never)) as PostgresPoolClient['query'],
    release: () => client.release(isLost),
  }
}
