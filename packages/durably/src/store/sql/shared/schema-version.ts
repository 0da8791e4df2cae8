// The version of the schema that a database has.
//   G2. A database that is newer than this code is left alone.
import { sql } from 'kysely'
import { DurablyError } from '../../../model/errors.ts'
import { SCHEMA_VERSION } from '../migrations/schema-version.ts'
import type { SqlDeps } from './deps.ts'

/** `null` when there is no such table yet. */
export async function readVersion({ db, session, tables }: SqlDeps): Promise<number | null> {
  const query = sql`SELECT max(version) AS version FROM ${tables.versions}`
  try {
    const [row] = await session.read(query.compile(db))
    return Number(row?.version ?? 0)
  } catch (error) {
    if (error instanceof DurablyError && error.code === 'not_migrated') return null
    throw error
  }
}

/** G2. */
export function isUpToDate(version: number): boolean {
  if (version > SCHEMA_VERSION) {
    throw new DurablyError(
      'schema_too_new',
      `the database has schema version ${version}, this version of durably knows ${SCHEMA_VERSION}; update the package of this process`,
    )
  }
  return version === SCHEMA_VERSION
}
