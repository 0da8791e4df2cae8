import type { Database, DatabaseParts } from '../database.ts'
import { isKeyTaken } from './classify-error.ts'
import { PostgresSession } from './postgres-session.ts'
import { checkRequirements, confirm } from './requirements.ts'
import { singleWrites } from './single-writes.ts'
import { postgresSyntax } from './syntax.ts'

export function postgresDatabase({ db, env, dialect, detected, clock }: DatabaseParts): Database {
  const session = new PostgresSession(db, env, async () => {
    if (!detected.certain) await confirm(db, dialect)
  })
  return {
    session,
    syntax: postgresSyntax(clock),
    writes: singleWrites,
    isKeyTaken,
    checkRequirements: () => checkRequirements(session),
  }
}
