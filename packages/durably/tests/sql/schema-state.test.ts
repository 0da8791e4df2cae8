import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Dialect, Kysely, sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { createDurably } from '../../src/durably.ts'
import { postgres } from '../../src/postgres/index.ts'
import { schemaState } from '../../src/schema.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import { temporaryDatabase } from '../postgres/place.ts'

function sqlitePlace(): () => Dialect {
  const folder = mkdtempSync(join(tmpdir(), 'durably-schema-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return () => sqlite(join(folder, 'test.db'))
}

async function postgresPlace(): Promise<() => Dialect> {
  const url = await temporaryDatabase()
  return () => postgres(url, { schema: 'jobs' })
}

const PLACES = [
  { name: 'SQLite', open: async () => sqlitePlace() },
  { name: 'Postgres', open: postgresPlace },
]

test.each(PLACES)('the statements for an empty $name make tables that the engine uses as they are', async ({ open }) => {
  const dialect = await open()
  const before = await schemaState({ dialect: dialect() })
  expect(before).toMatchObject({ version: 0, oldestCode: 0, isUsable: false })
  const db = new Kysely<unknown>({ dialect: dialect() })
  for (const statement of before.pending) await sql.raw(statement).execute(db)
  await db.destroy()
  const after = await schemaState({ dialect: dialect() })
  expect(after).toEqual({ version: after.known, known: after.known, oldestCode: 5, isUsable: true, pending: [] })
  await using durably = createDurably({ dialect: dialect() })
  expect(await durably.getRuns()).toEqual([])
})

test('of a database that is behind only the rest is pending, and one that is too new is not usable', async () => {
  const dialect = sqlitePlace()
  await using durably = createDurably({ dialect: dialect() })
  await durably.migrate()
  const { known } = await schemaState({ dialect: dialect() })
  await durably.db.deleteFrom('schema_versions').where('version', '=', known).execute()
  const behind = await schemaState({ dialect: dialect() })
  expect(behind).toMatchObject({ version: known - 1, isUsable: false })
  expect(behind.pending[0]).toMatch(new RegExp(`^INSERT INTO "schema_versions" .* VALUES \\(${known}, '\\d{4}-`))
  await durably.db
    .insertInto('schema_versions')
    .values({ version: known + 1, applied_at: 'now', oldest_code: known + 1 })
    .execute()
  expect(await schemaState({ dialect: dialect() })).toMatchObject({
    version: known + 1,
    oldestCode: known + 1,
    isUsable: false,
    pending: [],
  })
})
