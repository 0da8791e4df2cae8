import type { Dialect } from 'kysely'
import { onTestFinished } from 'vitest'
import { systemEnv } from '../../src/model/env.ts'
import { detectDialect } from '../../src/store/sql/shared/detect.ts'
import { openKysely } from '../../src/store/sql/shared/open-kysely.ts'
import type { Session } from '../../src/store/sql/shared/session.ts'
import { openSqliteSession } from '../../src/store/sql/sqlite/open-session.ts'
import { foreignTransport } from '../../src/store/sql/sqlite/transport/foreign-transport.ts'

/** The store's way to the database, for statements of the test's own. */
export function openSession(dialect: Dialect): Session {
  const parts = { ...openKysely(dialect), env: systemEnv(), dialect, detected: detectDialect(dialect) }
  const session = openSqliteSession(parts, foreignTransport(parts))
  onTestFinished(() => session.close())
  return session
}
