// libSQL's client, local or remote. Its `transaction()` leaves a connection behind each time and drops `busy_timeout`;
// `batch` does neither, and is one round trip to a remote database.
import type { CompiledQuery, Driver, Kysely } from 'kysely'
import { DurablyError } from '../../../../model/errors.ts'
import type { DurablyTables } from '../../shared/schema.ts'
import type { Row } from '../../shared/session.ts'
import type { Transport } from './transport.ts'

export interface LibsqlClient {
  batch(statements: { sql: string; args: unknown[] }[], mode: 'write' | 'deferred'): Promise<{ rows: unknown[] }[]>
}

/** The client that a driver talks to, if it is libSQL's. SQLocal's has a `batch` as well, with another meaning. */
export function libsqlClientOf(driver: Driver): LibsqlClient | null {
  const client: unknown = Reflect.get(driver, 'client')
  if (typeof client !== 'object' || client === null) return null
  const isLibsql = ['execute', 'batch', 'executeMultiple'].every((method) => typeof Reflect.get(client, method) === 'function')
  return isLibsql ? (client as LibsqlClient) : null
}

export function libsqlTransport(db: Kysely<DurablyTables>, client: LibsqlClient): Transport {
  return {
    async run(query) {
      const { rows } = await db.executeQuery(query)
      return rows as Row[]
    },
    async write(queries) {
      const results = await client.batch(queries.map(toStatement), 'write')
      return results.map(({ rows }) => rows as Row[])
    },
    async probe() {
      await client.batch([{ sql: 'select 1', args: [] }], 'deferred')
    },
    async transact() {
      throw new DurablyError(
        'transaction_unsupported',
        'ctx.transaction needs a connection of its own, which @libsql/client cannot give; use sqlite() or another dialect',
      )
    },
    close: () => db.destroy(),
  }
}

function toStatement({ sql, parameters }: CompiledQuery): { sql: string; args: unknown[] } {
  return { sql, args: parameters as unknown[] }
}
