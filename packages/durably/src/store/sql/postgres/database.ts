import type { Database, DatabaseParts } from '../shared/database.ts'
import { classifyError, isKeyTaken } from './classify-error.ts'
import { OwnerStatements } from './owner-statements.ts'
import { checkRequirements, confirm } from './requirements.ts'
import { PostgresSession } from './session.ts'
import { singleWrites } from './single-writes.ts'
import { postgresSyntax } from './syntax.ts'
import { urgentKysely } from './urgent-kysely.ts'

export function postgresDatabase(parts: DatabaseParts): Database {
  const { db, env, dialect, detected, clock } = parts
  const session = new PostgresSession({ db, urgent: urgentKysely(parts), dialect, env }, async () => {
    if (!detected.certain) await confirm(db, dialect)
  })
  return {
    session,
    syntax: postgresSyntax(clock),
    writes: singleWrites,
    ownerQueries(context) {
      const statements = new OwnerStatements(context)
      return (write, values) => [statements.single(write, values)(values)]
    },
    isKeyTaken,
    classify: classifyError,
    checkRequirements: () => checkRequirements(session),
  }
}
