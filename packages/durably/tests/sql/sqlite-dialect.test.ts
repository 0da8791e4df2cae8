import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CompiledQuery, Kysely, SqliteDialect } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { DatabaseSync } from '../../src/sqlite/database-sync.ts'
import { type SqliteOptions, sqlite } from '../../src/sqlite/index.ts'
import { openDatabase } from '../../src/sqlite/open-database.ts'
import { cachingDatabase } from '../../src/sqlite/statement-cache.ts'
import { rejects } from '../../src/testing/assert.ts'
import { openStore, temporaryDirectory, temporaryFile } from './place.ts'
import { bundleChild, inProcesses } from './processes.ts'

interface Tables {
  t: { a: unknown; b: unknown }
}

describe('sqlite()', () => {
  test.each([
    [{}, 2],
    [{ durability: 'full' }, 2],
    [{ durability: 'relaxed' }, 1],
  ] as [SqliteOptions, number][])('with %j is WAL, with foreign keys, and syncs at level %i', async (options, synchronous) => {
    const db = open(temporaryFile(), options)
    expect(await pragma(db, 'journal_mode')).toBe('wal')
    expect(await pragma(db, 'synchronous')).toBe(synchronous)
    expect(await pragma(db, 'foreign_keys')).toBe(1)
    expect(Number(await pragma(db, 'busy_timeout'))).toBeLessThanOrEqual(250)
  })

  test.each([
    ['', {}],
    [42, {}],
    ['x.db', { durability: 'most' }],
    ['x.db', { busyTimeoutMs: 5000 }],
    ['x.db', { busyTimeoutMs: 1.5 }],
  ])('sqlite(%j, %j) is refused', (path, options) => {
    expect(() => sqlite(path as string, options as SqliteOptions)).toThrow(expect.objectContaining({ code: 'invalid_config' }))
  })

  test('a Date as the first value is refused, not taken for named parameters', async () => {
    const db = open(':memory:')
    const query = CompiledQuery.raw('SELECT ? AS a, ? AS b', [new Date(0), 'p'])
    await expect(db.executeQuery(query)).rejects.toMatchObject({ code: 'store_rejected' })
    expect(await rows(db, 'SELECT ? AS a, ? AS b', [true, new Uint8Array([1])])).toEqual([{ a: 1, b: new Uint8Array([1]) }])
  })

  test('rows that are streamed are not disturbed by the same query', async () => {
    const db = open(':memory:')
    await rows(db, 'CREATE TABLE t (a, b)')
    await rows(db, 'INSERT INTO t (a) VALUES (1), (2), (3)')
    const query = db.selectFrom('t').select('a').orderBy('a')
    const seen: unknown[] = []
    for await (const { a } of query.stream()) seen.push(a)
    expect(seen).toEqual([1, 2, 3])
    expect(await query.execute()).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }])
  })

  test('writes return how many rows they changed', async () => {
    const db = open(':memory:')
    await rows(db, 'CREATE TABLE t (a, b)')
    expect((await db.insertInto('t').values({ a: 1, b: null }).executeTakeFirst()).insertId).toBe(1n)
    expect((await db.deleteFrom('t').executeTakeFirst()).numDeletedRows).toBe(1n)
  })
})

describe('a file that cannot be opened', () => {
  test('in a directory that does not exist', async () => {
    const path = join(temporaryDirectory(), 'missing', 'durably.db')
    const error = await rejects(openStore(sqlite(path)).migrate(), 'invalid_config', 'migrate')
    expect(error.message).toContain(JSON.stringify(path))
    expect(error.message).toContain('does not exist; create it first')
  })

  test('that is a directory', async () => {
    const path = temporaryDirectory()
    const error = await rejects(openStore(sqlite(path)).migrate(), 'invalid_config', 'migrate')
    expect(error.message).toContain(`${JSON.stringify(path)}: it is a directory`)
  })

  test('below a file', async () => {
    const file = temporaryFile()
    writeFileSync(file, '')
    const error = await rejects(openStore(sqlite(join(file, 'durably.db'))).migrate(), 'invalid_config', 'migrate')
    expect(error.message).toContain('is not a directory')
  })

  test('that this user may not read', async () => {
    const file = temporaryFile()
    writeFileSync(file, '')
    chmodSync(file, 0o000)
    chmodSync(dirname(file), 0o755)
    // Nothing is forbidden to root, so someone else must try.
    const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
    const [answer] = await inProcesses(await bundleChild('nobody'), [{ driver: 'sqlite()', file, act: 'migrate' }], nobody)
    expect(answer).toEqual({ error: `store_unavailable: cannot open ${JSON.stringify(file)}: permission denied` })
  })

  test('that is no database', async () => {
    const path = temporaryFile('letter.txt')
    writeFileSync(path, 'a letter\n'.repeat(1000))
    const error = await rejects(openStore(sqlite(path)).migrate(), 'store_corrupt', 'migrate')
    expect(error.message).toContain(JSON.stringify(path))
  })

  test('is tried again at the next use', async () => {
    const directory = join(temporaryDirectory(), 'later')
    const store = openStore(sqlite(join(directory, 'durably.db')))
    await rejects(store.migrate(), 'invalid_config', 'before')
    mkdirSync(directory)
    await store.migrate()
    expect(await store.runs.list({})).toEqual([])
  })
})

describe('the statement cache', () => {
  test('prepares a query once, and forgets the longest unused', async () => {
    const { database, prepared } = await watched()
    const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database: cachingDatabase(database) }) })
    for (let i = 0; i < 3; i++) await rows(db, 'SELECT 1')
    expect(prepared('SELECT 1')).toBe(1)
    for (let i = 0; i < 150; i++) await rows(db, `SELECT ${1000 + i}`)
    await rows(db, 'SELECT 1')
    for (let i = 0; i < 150; i++) await rows(db, `SELECT ${2000 + i}`)
    await rows(db, 'SELECT 1')
    expect(prepared('SELECT 1')).toBe(1)
    await rows(db, 'SELECT 1000')
    expect(prepared('SELECT 1000')).toBe(2)
    await db.destroy()
  })

  test('prepares a query anew after it has failed', async () => {
    const { database, prepared } = await watched()
    const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database: cachingDatabase(database) }) })
    await rows(db, 'CREATE TABLE once (a UNIQUE)')
    const insert = 'INSERT INTO once VALUES (1)'
    await rows(db, insert)
    await expect(rows(db, insert)).rejects.toThrow('UNIQUE')
    expect(prepared(insert)).toBe(1)
    await rows(db, 'DELETE FROM once')
    await rows(db, insert)
    expect(prepared(insert)).toBe(2)
    await db.destroy()
  })

  test('knows a query that returns rows, also where columns() is missing', async () => {
    const { database } = await watched({ withoutColumns: true })
    const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: cachingDatabase(database) }) })
    await rows(db, 'CREATE TABLE t (a, b)')
    expect(await db.insertInto('t').values({ a: 1, b: 2 }).returning('b').execute()).toEqual([{ b: 2 }])
    expect((await db.updateTable('t').set({ a: 2 }).executeTakeFirst()).numUpdatedRows).toBe(1n)
    expect(await db.selectFrom('t').selectAll().execute()).toEqual([{ a: 2, b: 2 }])
    await db.destroy()
  })
})

function open(path: string, options?: SqliteOptions): Kysely<Tables> {
  const db = new Kysely<Tables>({ dialect: sqlite(path, options) })
  onTestFinished(() => db.destroy())
  return db
}

async function watched({ withoutColumns = false } = {}): Promise<{ database: DatabaseSync; prepared(sql: string): number }> {
  const real = await openDatabase(':memory:', { synchronous: 'FULL', busyTimeoutMs: 0 })
  const calls: string[] = []
  const database: DatabaseSync = {
    exec: (sql) => real.exec(sql),
    close: () => real.close(),
    prepare(sql) {
      calls.push(sql)
      const statement = real.prepare(sql)
      if (!withoutColumns) return statement
      return {
        all: (...values) => statement.all(...values),
        run: (...values) => statement.run(...values),
        iterate: (...values) => statement.iterate(...values),
      }
    },
  }
  return { database, prepared: (sql) => calls.filter((call) => call === sql).length }
}

async function rows<T>(db: Kysely<T>, sql: string, parameters: unknown[] = []): Promise<unknown[]> {
  return (await db.executeQuery(CompiledQuery.raw(sql, parameters))).rows
}

async function pragma(db: Kysely<Tables>, name: string): Promise<unknown> {
  const [row] = await rows(db, `PRAGMA ${name}`)
  return Object.values(row as object)[0]
}
