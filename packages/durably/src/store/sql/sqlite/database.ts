import type { Database, DatabaseParts } from '../shared/database.ts'
import { batchedWrites } from '../shared/runs.ts'
import { classifyError, isKeyTaken } from './classify-error.ts'
import { openSqliteSession } from './open-session.ts'
import { ownerStatements } from './owner-statements.ts'
import { checkRequirements } from './requirements.ts'
import { sqliteSyntax } from './syntax.ts'
import type { Transport } from './transport/transport.ts'

export function sqliteDatabase(parts: DatabaseParts, transport: Transport): Database {
  const session = openSqliteSession(parts, transport)
  return {
    session,
    syntax: sqliteSyntax,
    writes: batchedWrites,
    ownerQueries: ownerStatements,
    isKeyTaken,
    classify: classifyError,
    checkRequirements: () => checkRequirements(session),
  }
}
