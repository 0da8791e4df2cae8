// The version of the schema that a database has.
import { type RawBuilder, sql } from 'kysely'
import { hasCode } from '../../../model/errors.ts'
import type { SqlDeps } from './deps.ts'

/** What the database says of itself. */
export interface SchemaVersion {
  /** 0 before the first migration. */
  version: number
  /** The least number of migrations that code has to know to work on it. */
  oldestCode: number
}

/** `null` when the table or a column of it is missing. */
export async function readVersion(
  { db, session, tables }: Pick<SqlDeps, 'db' | 'tables'> & { session: Pick<SqlDeps['session'], 'read'> },
  oldestCode: RawBuilder<unknown> = sql`coalesce(oldest_code, version)`,
): Promise<SchemaVersion | null> {
  const query = sql`SELECT max(version) AS version, max(${oldestCode}) AS oldest FROM ${tables.versions}`
  try {
    const [row] = await session.read(query.compile(db))
    return { version: Number(row?.version ?? 0), oldestCode: Number(row?.oldest ?? 0) }
  } catch (error) {
    if (hasCode(error, 'not_migrated')) return null
    throw error
  }
}

/** A database that is newer than the code is used as it is if it says that it may be. */
export function isFit({ version, oldestCode }: SchemaVersion, known: number): boolean {
  return version >= known && oldestCode <= known
}
