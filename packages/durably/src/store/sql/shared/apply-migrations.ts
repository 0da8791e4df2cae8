// Applies the migrations that a database lacks.
//   G1. A migration and its row in schema_versions are one transaction, and the row goes in first: of several processes
//       one migrates, the others are refused by its primary key and find the work done.
import { type RawBuilder, sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import { DurablyError } from '../../../model/errors.ts'
import { MIGRATIONS, type Migration } from '../migrations/index.ts'
import type { SqlDeps } from './deps.ts'
import { isUpToDate, readVersion } from './schema-version.ts'
import type { Syntax } from './syntax.ts'

/** `found`: the version of the schema; `null` when there is no table of versions yet. */
export async function applyMigrations(deps: SqlDeps, found: number | null): Promise<void> {
  if (found === null) await createVersions(deps)
  const version = found ?? (await readVersion(deps)) ?? 0
  if (isUpToDate(version)) return
  for (const [i, migration] of MIGRATIONS.entries()) if (i + 1 > version) await apply(deps, i + 1, migration)
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
