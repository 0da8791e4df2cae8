// Connections that `postgres()` opens have no JIT, wherever that can be had; all others work as they are.
import { connect, createServer } from 'node:net'
import { CompiledQuery, Kysely } from 'kysely'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { postgres } from '../../src/postgres/index.ts'
import { openStore } from '../sql/place.ts'
import { newRun } from '../sql/runs.ts'
import { temporaryDatabase } from './place.ts'

test('every connection that is opened for a URL has no JIT', async () => {
  const db = kysely(postgres(await temporaryDatabase(), { max: 3 }))
  // Each holds its connection while the next one asks.
  const askOn = (more: number): Promise<{ pid: number; jit: string }[]> =>
    db.connection().execute(async (connection) => {
      const { rows } = await connection.executeQuery(CompiledQuery.raw(`SELECT pg_backend_pid() AS pid, ${JIT} AS jit`))
      return [...(rows as { pid: number; jit: string }[]), ...(more > 0 ? await askOn(more - 1) : [])]
    })
  const rows = await askOn(1)
  expect(new Set(rows.map(({ pid }) => pid)).size).toBe(2)
  expect(rows.map(({ jit }) => jit)).toEqual(['off', 'off'])
})

test('PGOPTIONS is kept, and decides', async () => {
  const url = await temporaryDatabase()
  setPgOptions('-c statement_timeout=4321')
  expect(await settingsOf(postgres(url))).toEqual({ jit: 'off', timeout: '4321ms' })
  setPgOptions('-c jit=on')
  expect(await settingsOf(postgres(url))).toEqual({ jit: 'on', timeout: '0' })
})

test('options of the URL are kept as they are', async () => {
  const url = new URL(await temporaryDatabase())
  url.searchParams.set('options', '-c statement_timeout=4321')
  expect(await settingsOf(postgres(url.href))).toEqual({ jit: 'on', timeout: '4321ms' })
})

test('a pool of the user keeps its settings, and works', async () => {
  const pool = new pg.Pool({ connectionString: await temporaryDatabase() })
  onTestFinished(() => pool.end())
  expect(await settingsOf(postgres(pool))).toMatchObject({ jit: 'on' })
  const store = openStore(postgres(pool))
  await store.migrate()
  expect(await store.runs.create([newRun()])).toMatchObject([{ created: true }])
})

const REFUSALS = [
  ['08P01', 'unsupported startup parameter: options'],
  ['0A000', "Feature not supported: RDS Proxy currently doesn't support command-line options."],
] as const

test.each(REFUSALS)('behind a pooler that refuses settings with %s it goes without', async (code, message) => {
  const { url, refused } = await refusingProxyTo(await temporaryDatabase(), code, message)
  const store = openStore(postgres(url, { max: 4 }))
  await store.migrate()
  const created = await Promise.all(Array.from({ length: 8 }, () => store.runs.create([newRun(), newRun()])))
  expect(created.flat().every((one) => one.created)).toBe(true)
  expect(await settingsOf(postgres(url))).toMatchObject({ jit: 'on' })
  expect(refused()).toBeGreaterThan(0)
})

test('another refusal is an error', async () => {
  const { url } = await refusingProxyTo(await temporaryDatabase(), '28P01', 'password authentication failed')
  await expect(settingsOf(postgres(url))).rejects.toThrow('password authentication failed')
})

const JIT = `current_setting('jit')`

function kysely(dialect: ReturnType<typeof postgres>): Kysely<unknown> {
  const db = new Kysely<unknown>({ dialect })
  onTestFinished(() => db.destroy())
  return db
}

async function settingsOf(dialect: ReturnType<typeof postgres>): Promise<unknown> {
  const { rows } = await kysely(dialect).executeQuery(
    CompiledQuery.raw(`SELECT ${JIT} AS jit, current_setting('statement_timeout') AS timeout`),
  )
  return rows[0]
}

function setPgOptions(options: string): void {
  const before = process.env.PGOPTIONS
  process.env.PGOPTIONS = options
  onTestFinished(() => {
    if (before === undefined) delete process.env.PGOPTIONS
    else process.env.PGOPTIONS = before
  })
}

/** As a pooler that refuses a start with `options`, and passes everything else on. */
async function refusingProxyTo(target: string, code: string, message: string) {
  const { hostname, port } = new URL(target)
  let refused = 0
  const server = createServer((client) => {
    client.on('error', () => {})
    client.once('data', (start) => {
      if (start.includes('\0options\0')) {
        refused += 1
        return client.end(errorResponse(code, message))
      }
      const upstream = connect(Number(port), hostname)
      upstream.on('error', () => {})
      upstream.on('close', () => client.destroy())
      client.on('close', () => upstream.destroy())
      upstream.write(start)
      client.pipe(upstream).pipe(client)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = new URL(target)
  url.port = String((server.address() as { port: number }).port)
  return { url: url.href, refused: () => refused }
}

function errorResponse(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`)
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeUInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}
