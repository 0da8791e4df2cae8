import type { OpenedSql, SqlStore } from '../../open-sql.ts'
import { checkRequirements } from '../requirements.ts'
import { sqliteStore } from '../store.ts'
import { kyselyTransport } from './kysely-transport.ts'
import { libsqlClientOf, libsqlTransport } from './libsql-transport.ts'
import { prepareConnection } from './prepare-connection.ts'
import { StatementResetTransport } from './statement-reset-transport.ts'
import type { Transport } from './transport.ts'

/** For an unknown driver: it may be libsql, so its statements are watched as if it were. */
export function foreignTransport(opened: OpenedSql): Transport {
  const client = libsqlClientOf(opened.driver)
  return new StatementResetTransport(client ? libsqlTransport(opened.db, client) : kyselyTransport(opened), opened.env)
}

export function foreignSqliteStore(opened: OpenedSql): SqlStore {
  const transport = foreignTransport(opened)
  return sqliteStore(opened, { transport, prepare: () => prepareConnection(opened, transport), checkRequirements })
}
