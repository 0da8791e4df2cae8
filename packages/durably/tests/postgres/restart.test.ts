// The server goes away: while nobody asks it anything, and in the middle of a call. The process lives, the call is
// rejected as unknown (S2), and the same call succeeds once the server is back.
import { type AddressInfo, createServer } from 'node:net'
import { CompiledQuery } from 'kysely'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isPassing } from '../../src/model/errors.ts'
import { postgres } from '../../src/postgres/index.ts'
import { rejects } from '../../src/testing/assert.ts'
import { openStore } from '../sql/place.ts'
import { claimed, newRun, recordStep } from '../sql/runs.ts'
import { migratedPostgres, temporaryDatabase } from './place.ts'
import { startPostgres } from './server.ts'

describe('connections that are cut', () => {
  test('while they are idle: the next calls succeed', async () => {
    const { store, url } = await migratedPostgres()
    const [{ run } = { run: { id: '' } }] = await store.runs.create([newRun()])
    // Not reads of runs: those of one turn share a connection.
    await Promise.all(Array.from({ length: 10 }, () => store.steps.list(run.id)))
    expect(await terminateOthers(url)).toBeGreaterThan(1)
    await eventually(async () => (await store.runs.get(run.id))?.id === run.id)
    expect(await store.runs.create([newRun()])).toHaveLength(1)
  })

  test('in a call: it is rejected, and may be sent again', async () => {
    const { store, url } = await migratedPostgres()
    const claim = await claimed(store)
    const lock = await holdRow(url, claim.runId)
    const write = recordStep(claim, 1)
    const waiting = store.runs.apply([write])
    const rejected = rejects(waiting, 'store_unavailable', 'the call that was cut')
    await eventually(async () => (await waitingBackends(url)) === 1)
    await terminateOthers(url, `wait_event_type = 'Lock'`)
    expect(isPassing(await rejected)).toBe(true)
    const again = store.runs.apply([write])
    await lock.release()
    expect(await again).toEqual([{ ok: true, cancelRequested: false }])
    expect(await store.steps.list(claim.runId)).toHaveLength(1)
  })

  test('within a transaction of several statements: nothing of it is there', async () => {
    const { store, url } = await migratedPostgres()
    const one = await claimed(store)
    const other = await claimed(store)
    const [first, last] = [one, other].sort((a, b) => (a.runId < b.runId ? -1 : 1))
    if (!first || !last) throw new Error('two claims')
    const lock = await holdRow(url, last.runId)
    const rejected = rejects(store.runs.apply([recordStep(first, 1), recordStep(last, 1)]), 'store_unavailable', 'the call that was cut')
    await eventually(async () => (await waitingBackends(url)) === 1)
    await terminateOthers(url, `wait_event_type = 'Lock'`)
    await rejected
    await lock.release()
    expect(await store.steps.list(first.runId)).toEqual([])
  })

  test('again and again, under load: no call is answered wrongly, and nothing acknowledged is lost', async () => {
    const { store, url } = await migratedPostgres()
    const acknowledged: string[] = []
    let isOver = false
    const client = async () => {
      while (!isOver) {
        const run = newRun()
        try {
          await store.runs.create([run])
          acknowledged.push(run.id)
        } catch (error) {
          expect(isPassing(error), String(error)).toBe(true)
        }
      }
    }
    const clients = Array.from({ length: 5 }, client)
    for (let i = 0; i < 10; i++) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      await terminateOthers(url)
    }
    isOver = true
    await Promise.all(clients)
    const stored = new Set((await store.runs.list({})).map(({ id }) => id))
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([])
    expect(acknowledged.length).toBeGreaterThan(0)
  })

  test('in the moment it is opened: the process lives', async () => {
    const store = openStore(postgres(await serverThatOpensAndEnds()))
    await rejects(store.runs.get('x'), 'store_unavailable', 'a call on a connection that has ended')
    const pool = new pg.Pool({ connectionString: await serverThatOpensAndEnds() })
    onTestFinished(() => pool.end())
    await rejects(openStore(postgres(pool)).runs.get('x'), 'store_unavailable', 'a call on a pool of the user')
  })

  test('the control: pg leaves a connection that is in use without a listener', async () => {
    const pool = new pg.Pool({ connectionString: await temporaryDatabase() })
    // Dropping its database may cut a connection that is just ending.
    pool.on('error', () => {})
    const listeners = pool.listenerCount('error')
    const client = await pool.connect()
    expect(client.listenerCount('error')).toBe(0)
    client.release()
    const store = openStore(postgres(pool))
    await store.db.connection().execute(async (connection) => {
      await connection.executeQuery(CompiledQuery.raw('select 1'))
      expect(client.listenerCount('error')).toBe(1)
    })
    expect(pool.listenerCount('error')).toBe(listeners + 1)
    await pool.end()
  })
})

test('a server that is not there', async () => {
  const store = openStore(postgres('postgres://127.0.0.1:1/nobody'))
  const error = await rejects(store.runs.get('x'), 'store_unavailable', 'a call')
  expect(isPassing(error)).toBe(true)
})

test.skipIf(process.env.DATABASE_URL)(
  'a server that crashes and comes back',
  async () => {
    const server = await startPostgres()
    onTestFinished(() => server.stop())
    const store = openStore(postgres(server.url))
    await store.migrate()
    const claim = await claimed(store)
    await Promise.all(Array.from({ length: 5 }, () => store.runs.list({})))
    for (let number = 1; number <= 3; number++) {
      const crashed = server.crash()
      const write = recordStep(claim, number)
      const outcomes: unknown[] = []
      while (outcomes.length === 0) {
        await store.runs.apply([write]).then(
          ([outcome]) => outcomes.push(outcome),
          (error) => expect(error.code).toBe('store_unavailable'),
        )
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      expect(outcomes).toEqual([{ ok: true, cancelRequested: false }])
      await crashed
    }
    expect(await store.steps.list(claim.runId)).toHaveLength(3)
  },
  60_000,
)

/** Its welcome and its farewell come in one piece, so there is no moment between them. */
async function serverThatOpensAndEnds(): Promise<string> {
  const message = (type: string, body: string) => {
    const bytes = Buffer.from(`${type}....${body}`, 'latin1')
    bytes.writeInt32BE(bytes.length - 1, 1)
    return bytes
  }
  const welcome = [message('R', '\0\0\0\0'), message('Z', 'I')]
  const farewell = message('E', 'SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0')
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(Buffer.concat([...welcome, farewell])))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `postgres://nobody@127.0.0.1:${(server.address() as AddressInfo).port}/app`
}

async function ask(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

async function terminateOthers(url: string, which = 'true'): Promise<number> {
  const rows = await ask(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${which}`,
  )
  return rows.length
}

async function waitingBackends(url: string): Promise<number> {
  const rows = await ask(url, `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
  return rows.length
}

async function holdRow(url: string, id: string): Promise<{ release(): Promise<void> }> {
  const client = new pg.Client(url)
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('BEGIN')
  await client.query('SELECT 1 FROM runs WHERE id = $1 FOR UPDATE', [id])
  return { release: async () => void (await client.query('ROLLBACK')) }
}

async function eventually(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await condition().catch(() => false)) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('it did not come to pass')
}
