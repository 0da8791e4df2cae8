// Two versions of the code on one database: during a rolling restart, and after a rollback.
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { systemEnv } from '../../src/model/env.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import { MIGRATIONS, type Migration, OLDEST_CODE } from '../../src/store/sql/migrations/index.ts'
import { openSql } from '../../src/store/sql/open-sql.ts'
import { applyMigrations } from '../../src/store/sql/shared/apply-migrations.ts'
import type { SqlStore } from '../../src/store/sql/sql-store.ts'
import { sqliteSyntax } from '../../src/store/sql/sqlite/syntax.ts'
import { rejects } from '../../src/testing/assert.ts'
import { migratedStore, openStore, temporaryFile } from './place.ts'
import { PLACES, run } from './places.ts'
import { newRun } from './runs.ts'
import { openSession } from './session.ts'

const KNOWN = MIGRATIONS.length
const NEXT = KNOWN + 1

describe.each(PLACES)('on $name', ({ dialect }) => {
  async function migrated(): Promise<SqlStore> {
    const store = openStore(await dialect())
    await store.migrate()
    return store
  }

  const record = (store: SqlStore, version: number, oldestCode: number | null) =>
    run(store, `INSERT INTO schema_versions (version, applied_at, oldest_code) VALUES (${version}, 'tomorrow', ${oldestCode})`)

  test('every migration is stored with the oldest code that works on it', async () => {
    const store = await migrated()
    const rows = await run(store, 'SELECT version, oldest_code FROM schema_versions ORDER BY version')
    expect(rows).toEqual(MIGRATIONS.map((_, i) => ({ version: i + 1, oldest_code: OLDEST_CODE[i + 1] ?? i + 1 })))
  })

  test('a newer database that supports this code is used as it is', async () => {
    const store = await migrated()
    await run(store, 'ALTER TABLE runs ADD COLUMN added TEXT')
    await record(store, NEXT, KNOWN)
    await store.migrate()
    await store.runs.create([newRun()])
    expect(await store.runs.claim({ jobNames: ['job'], tokens: ['t'], leaseMs: 1000 })).toHaveLength(1)
  })

  test.each([
    ['a newer migration that needs newer code', [[NEXT, NEXT]]],
    [
      'one of several newer migrations',
      [
        [NEXT, NEXT],
        [NEXT + 1, KNOWN],
      ],
    ],
  ] as const)('%s is refused', async (_, rows) => {
    const store = await migrated()
    for (const [version, oldestCode] of rows) await record(store, version, oldestCode)
    const error = await rejects(store.migrate(), 'schema_too_new', 'migrate')
    expect(error.message).toContain(`needs code that knows version ${NEXT}; this one knows ${KNOWN}`)
  })

  test('a database from before oldest_code is migrated on, and one that is newer is refused', async () => {
    const store = await migrated()
    await run(store, 'ALTER TABLE schema_versions DROP COLUMN oldest_code')
    await store.migrate()
    await run(store, `INSERT INTO schema_versions VALUES (${NEXT}, 'tomorrow')`)
    await rejects(store.migrate(), 'schema_too_new', 'migrate')
  })

  test('code that is newer than the database says not_migrated, also where it reads', async () => {
    const store = await migrated()
    await store.runs.create([newRun()])
    await run(store, 'ALTER TABLE runs DROP COLUMN effects')
    const [row] = await run(store, 'SELECT id FROM runs')
    for (const read of [() => store.runs.get(String(row?.id)), () => store.runs.list({})]) {
      const error = await rejects(read(), 'not_migrated', 'a read')
      expect(error.message).toContain('await durably.migrate()')
    }
  })
})

test('the next version migrates a table without oldest_code, and says in it what it supports', async () => {
  const file = temporaryFile()
  const store = await migratedStore(sqlite(file))
  await run(store, 'ALTER TABLE schema_versions DROP COLUMN oldest_code')
  const next: Migration = ({ tables: t }) => [sql`ALTER TABLE ${t.runs} ADD COLUMN added TEXT`]
  const { db, tables } = openSql({ dialect: sqlite(file) })
  const deps = { db, tables, session: openSession(sqlite(file)), env: systemEnv(), syntax: sqliteSyntax }
  await applyMigrations(deps, [...MIGRATIONS, next], { [NEXT]: KNOWN })
  await store.migrate()
  expect(await run(store, 'SELECT version, oldest_code FROM schema_versions ORDER BY version DESC LIMIT 2')).toEqual([
    { version: NEXT, oldest_code: KNOWN },
    { version: KNOWN, oldest_code: null },
  ])
})

// `runs_idempotent` refuses what the index refused that it replaces, `runs_slot` nothing of a run without a schedule, and `runs_running_key`, made
// anew, nothing more of a run without `hold_key`. No statement names an
// index that was dropped and not made anew. The triggers do nothing for a run without labels and without files, and take note of one that is deleted.
// What a migration drops on Postgres alone has a test of its own (`rows-of-runs.test.ts`).
test('a migration that older code shall work on only adds', () => {
  const { db, tables } = openSql({ dialect: sqlite(':memory:') })
  for (const [version, oldest] of Object.entries(OLDEST_CODE)) {
    const added = MIGRATIONS.slice(oldest, Number(version)).flatMap((migration) => migration({ tables, syntax: sqliteSyntax }))
    for (const statement of added)
      expect(statement.compile(db).sql.trim()).toMatch(
        /^(CREATE (TABLE|INDEX|TRIGGER "(?:run_labels|archive)_\w+")|CREATE UNIQUE INDEX "runs_(idempotent|slot|running_key)"|DROP INDEX|ALTER TABLE \S+ ADD COLUMN (?!.*NOT NULL(?!.*DEFAULT)))/,
      )
  }
})

// They ask for the index by name, which has other columns since version 16.
test('the statements by which older code on SQLite finds lost runs still find them', async () => {
  const store = await migratedStore(sqlite(':memory:'))
  await store.runs.create([newRun(), newRun()])
  const [lost] = await store.runs.claim({ jobNames: ['job'], tokens: ['t'], leaseMs: 1000 })
  await run(store, 'UPDATE runs SET lease_expires_at = 5 WHERE lease_owner IS NOT NULL')
  const running = `FROM runs AS r INDEXED BY runs_lease_end WHERE r.status = 'running'`
  expect(await run(store, `SELECT r.id ${running} AND r.lease_expires_at <= 5 ORDER BY r.lease_expires_at, r.rowid LIMIT 50`)).toEqual([
    { id: lost?.id },
  ])
  expect(await run(store, `SELECT min(r.lease_expires_at) AS next ${running} AND r.lease_expires_at > 4`)).toEqual([{ next: 5 }])
})
