import { batchedWrites } from '../../runs.ts'
import type { Database, DatabaseParts } from '../database.ts'
import { isKeyTaken } from './classify-error.ts'
import { openSqliteSession } from './open-session.ts'
import { checkRequirements } from './requirements.ts'
import { sqliteSyntax } from './syntax.ts'

export function sqliteDatabase(parts: DatabaseParts): Database {
  const session = openSqliteSession(parts)
  return { session, syntax: sqliteSyntax, writes: batchedWrites, isKeyTaken, checkRequirements: () => checkRequirements(session) }
}
