// Creates and updates the app's tables and views. Several processes may do so at once.
import type { Durably } from '@coji/durably'
import { type RawBuilder, sql } from 'kysely'
import { type DatabaseKind, kindOf } from './kind.ts'
import { createTables } from './migrations/0001-tables.ts'
import { createViews } from './migrations/0002-views.ts'
import { createArtifacts } from './migrations/0003-artifacts.ts'
import { createUsers } from './migrations/0004-users.ts'
import { createAuth } from './migrations/0005-auth.ts'
import { type AppDatabase, type AppTransaction, appDatabase } from './tables.ts'

/** In order. Never change one that was released: add another one. */
const MIGRATIONS: ((kind: DatabaseKind) => RawBuilder<unknown>[])[] = [createTables, createViews, createArtifacts, createUsers, createAuth]

/** An arbitrary number: whoever migrates holds the lock of this number. */
const LOCK = 7_204_004

export async function migrate(durably: Durably): Promise<void> {
  await durably.migrate()
  const db = appDatabase(durably)
  const kind = kindOf(db)
  await sql`CREATE TABLE IF NOT EXISTS agent_migrations (version INTEGER PRIMARY KEY, applied_at TEXT NOT NULL)`.execute(db)
  await db.transaction().execute(async (trx) => {
    // The lock belongs to the transaction, so it ends with it, whichever connection the pool gives.
    if (kind === 'postgres') await sql`SELECT pg_advisory_xact_lock(${LOCK})`.execute(trx)
    const applied = await lastVersion(trx)
    for (const [i, statements] of MIGRATIONS.entries()) if (i + 1 > applied) await apply(trx, i + 1, statements(kind))
  })
}

/** Whether the tables are there and as new as this program. */
export async function isMigrated(db: AppDatabase): Promise<boolean> {
  return (await lastVersion(db)) >= MIGRATIONS.length
}

async function lastVersion(db: AppDatabase): Promise<number> {
  const row = await db
    .selectFrom('agent_migrations')
    .select(({ fn }) => fn.max('version').as('version'))
    .executeTakeFirst()
  return row?.version ?? 0
}

async function apply(trx: AppTransaction, version: number, statements: RawBuilder<unknown>[]): Promise<void> {
  for (const statement of statements) await statement.execute(trx)
  await trx.insertInto('agent_migrations').values({ version, applied_at: new Date().toISOString() }).execute()
}
