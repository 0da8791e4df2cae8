// Applies the migrations that a database lacks.
//   G1. All pending migrations and their rows in schema_versions are one transaction: tables of someone else, or a crash, leave nothing
//       half done. Of several processes one migrates; the others are refused by the primary key of the rows, and find the work done.
//   G2. A database that is newer than this code is used as it is if its migrations say so (`OLDEST_CODE`), and left alone otherwise.
import { type RawBuilder, sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import { DurablyError, hasCode } from '../../../model/errors.ts'
import { lazyCode } from '../../../model/lazy.ts'
import { MIGRATIONS, OLDEST_CODE } from '../migrations/index.ts'
import type { SqlDeps } from './deps.ts'
import { isFit, readVersion, type SchemaVersion } from './schema-version.ts'

const words = lazyCode(() => import('./foreign-tables.ts'))

export type MigrateDeps = Pick<SqlDeps, 'db' | 'session' | 'env' | 'tables' | 'syntax'>

interface Found extends SchemaVersion {
  /** What schema_versions lacks before a row is written; null if nothing. */
  lacking: RawBuilder<unknown> | null
}

export async function applyMigrations(deps: MigrateDeps, migrations = MIGRATIONS, oldestCode = OLDEST_CODE): Promise<void> {
  const { db, session } = deps
  for (let found = await findSchema(deps); ; ) {
    const { version } = found
    if (version >= migrations.length) return checkFit(deps, found, migrations.length)
    try {
      await session.write(lackingStatements(deps, found, migrations, oldestCode).map((statement) => statement.compile(db)))
      return
    } catch (error) {
      found = await findSchema(deps)
      if (found.version <= version) throw await explained(deps, error)
    }
  }
}

/** What brings a database up to date, in one transaction (G1). */
export function lackingStatements(
  deps: Pick<MigrateDeps, 'env' | 'tables' | 'syntax'>,
  { version, lacking }: Found,
  migrations = MIGRATIONS,
  oldestCode = OLDEST_CODE,
): RawBuilder<unknown>[] {
  const { env, tables, syntax } = deps
  const statements = [syntax.migrationLock, lacking]
  for (const [i, migration] of migrations.entries()) {
    const next = i + 1
    const record = sql`INSERT INTO ${tables.versions} (version, applied_at, oldest_code) VALUES (${next}, ${iso(env.wall())}, ${oldestCode[next] ?? next})`
    if (next > version) statements.push(record, ...migration(deps))
  }
  return statements.filter((statement) => statement !== null)
}

/** The table had no `oldest_code` at first, and then each version worked with its own code alone. */
export async function findSchema(deps: Parameters<typeof readVersion>[0]): Promise<Found> {
  const { versions } = deps.tables
  const current = await readVersion(deps)
  if (current) return { ...current, lacking: null }
  const early = await readVersion(deps, sql`version`)
  if (early) return { ...early, lacking: sql`ALTER TABLE ${versions} ADD COLUMN oldest_code INTEGER` }
  const create = sql`CREATE TABLE ${versions} (version INTEGER PRIMARY KEY NOT NULL, applied_at TEXT NOT NULL, oldest_code INTEGER)`
  return { version: 0, oldestCode: 0, lacking: create }
}

/** Rejects unless the tables are Durably's, and say that this code may work on them. */
async function checkFit(deps: MigrateDeps, found: Found, known: number): Promise<void> {
  const { db, session, env, tables } = deps
  try {
    await session.read(sql`SELECT lease_generation FROM ${tables.runs} LIMIT 1`.compile(db))
  } catch (error) {
    throw await explained(deps, error)
  }
  if (!isFit(found, known)) throw new DurablyError('schema_too_new', (await words(env)).tooNew(found, known))
}

/** The error itself, unless it is about tables of another program. */
async function explained({ env }: MigrateDeps, error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !(hasCode(error, 'not_migrated') || /already exists|constraint/.test(error.message))) return error
  return new DurablyError('store_rejected', (await words(env)).notOurs(error.message), { cause: error })
}
