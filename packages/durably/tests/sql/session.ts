import type { Dialect } from 'kysely'
import { onTestFinished } from 'vitest'
import { openSql } from '../../src/store/sql/open-sql.ts'
import type { Session } from '../../src/store/sql/shared/session.ts'
import { SqliteSession } from '../../src/store/sql/sqlite/session.ts'
import { foreignTransport } from '../../src/store/sql/sqlite/transport/foreign-transport.ts'
import { prepareConnection } from '../../src/store/sql/sqlite/transport/prepare-connection.ts'

/** The store's way to the database, for statements of the test's own. */
export function openSession(dialect: Dialect): Session {
  const opened = openSql({ dialect })
  const transport = foreignTransport(opened)
  const session = new SqliteSession(transport, opened.env, () => prepareConnection(opened, transport))
  onTestFinished(() => session.close())
  return session
}
