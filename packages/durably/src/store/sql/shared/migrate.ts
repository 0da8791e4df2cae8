// Brings the schema up to date.
//   G1. A migration and its row in schema_versions are one transaction, and the row goes in first: of several processes
//       one migrates, the others are refused by its primary key and find the work done.
//   G2. A database that is newer than this code is left alone.
import { type RawBuilder, sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import { DurablyError } from '../../../model/errors.ts'
import { MIGRATIONS, type Migration } from '../migrations/index.ts'
import type { SqlContext, Syntax } from './deps.ts'

export async function migrate(context: SqlContext, migrations: readonly Migration[] = MIGRATIONS): Promise<void> {
  const latest = migrations.length
  let version = await readVersion(context)
  if (version === null) {
    await createVersions(context)
    version = (await readVersion(context)) ?? 0
  }
  if (version > latest) {
    throw new DurablyError(
      'schema_too_new',
      `the database has schema version ${version}, this version of durably knows ${latest}; update the package of this process`,
    )
  }
  for (const [i, migration] of migrations.entries()) if (i + 1 > version) await apply(context, i + 1, migration)
}

async function apply(context: SqlContext, version: number, migration: Migration): Promise<void> {
  const { db, session, env, tables, syntax } = context
  const record = sql`INSERT INTO ${tables.versions} (version, applied_at) VALUES (${version}, ${iso(env.wall())})`
  try {
    await session.write([...locked(syntax), record, ...migration(context)].map((statement) => statement.compile(db)))
  } catch (error) {
    const reached = (await readVersion(context)) ?? 0
    if (reached < version) throw explained(error)
  }
}

/** `null` when there is no such table yet. */
async function readVersion({ db, session, tables }: SqlContext): Promise<number | null> {
  const query = sql`SELECT max(version) AS version FROM ${tables.versions}`
  try {
    const [row] = await session.read(query.compile(db))
    return Number(row?.version ?? 0)
  } catch (error) {
    if (error instanceof DurablyError && error.code === 'not_migrated') return null
    throw error
  }
}

async function createVersions({ db, session, tables, syntax }: SqlContext): Promise<void> {
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
