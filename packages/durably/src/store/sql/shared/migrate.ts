// Brings the schema up to date.
//   G1. A migration and its row in schema_versions are one transaction, and the row goes in first: of several processes
//       one migrates, the others are refused by its primary key and find the work done.
//   G2. A database that is newer than this code is left alone.
import { type RawBuilder, sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import { DurablyError } from '../../../model/errors.ts'
import { MIGRATIONS, type Migration } from '../migrations/index.ts'
import type { SqlDeps } from './deps.ts'
import type { Syntax } from './syntax.ts'

export async function migrate(deps: SqlDeps, migrations: readonly Migration[] = MIGRATIONS): Promise<void> {
  const latest = migrations.length
  let version = await readVersion(deps)
  if (version === null) {
    await createVersions(deps)
    version = (await readVersion(deps)) ?? 0
  }
  if (version > latest) {
    throw new DurablyError(
      'schema_too_new',
      `the database has schema version ${version}, this version of durably knows ${latest}; update the package of this process`,
    )
  }
  for (const [i, migration] of migrations.entries()) if (i + 1 > version) await apply(deps, i + 1, migration)
}

async function apply(deps: SqlDeps, version: number, migration: Migration): Promise<void> {
  const { db, session, env, tables, syntax } = deps
  const record = sql`INSERT INTO ${tables.versions} (version, applied_at) VALUES (${version}, ${iso(env.wall())})`
  try {
    await session.write([...locked(syntax), record, ...migration(deps)].map((statement) => statement.compile(db)))
  } catch (error) {
    const reached = (await readVersion(deps)) ?? 0
    if (reached < version) throw explained(error)
  }
}

/** `null` when there is no such table yet. */
async function readVersion({ db, session, tables }: SqlDeps): Promise<number | null> {
  const query = sql`SELECT max(version) AS version FROM ${tables.versions}`
  try {
    const [row] = await session.read(query.compile(db))
    return Number(row?.version ?? 0)
  } catch (error) {
    if (error instanceof DurablyError && error.code === 'not_migrated') return null
    throw error
  }
}

async function createVersions({ db, session, tables, syntax }: SqlDeps): Promise<void> {
  const table = sql`CREATE TABLE IF NOT EXISTS ${tables.versions} (version INTEGER PRIMARY KEY NOT NULL, applied_at TEXT NOT NULL)`
  await session.write([...locked(syntax), table].map((statement) => statement.compile(db)))
}

function locked({ migrationLock }: Syntax): RawBuilder<unknown>[] {
  return migrationLock ? [migrationLock] : []
}

function explained(error: unknown): unknown {
  if (!(error instanceof Error) || !/already exists/.test(error.message)) return error
  return new DurablyError('store_rejected', `${error.message}; give durably's tables a tablePrefix of their own`, { cause: error })
}
