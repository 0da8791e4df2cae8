import { ownerStatements } from '../../runs/owner-statements.ts'
import { batchedWrites } from '../../runs.ts'
import type { Database, DatabaseParts } from '../database.ts'
import { classifyError, isKeyTaken } from './classify-error.ts'
import { openSqliteSession } from './open-session.ts'
import { checkRequirements } from './requirements.ts'
import { sqliteSyntax } from './syntax.ts'
import type { Transport } from './transport.ts'

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
