// LISTEN and NOTIFY on the real server: what is received, what is not, and what becomes of it when the connection does not hold.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { PostgresDialect } from 'kysely'
import pg from 'pg'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { systemEnv } from '../../src/model/env.ts'
import { DurablyError } from '../../src/model/errors.ts'
import { bundleChild } from '../sql/processes.ts'
import { deafProxyTo } from './deaf-proxy.ts'
import { bystander, CHANNEL, eventually, hurriedEnv, listening, open, type Party } from './notifiers.ts'
import { temporaryDatabase } from './place.ts'
import { startPostgres } from './server.ts'

const WORK = { type: 'work' } as const
const ANYTHING = { type: 'anything' } as const
const SELF_TEST_MS = 2000
const LAST = { type: 'events', runId: 'last' } as const

describe('what is told', () => {
  test('is received by the others, and not by oneself', async () => {
    const url = await temporaryDatabase()
    const [one, other] = await Promise.all([listening(url), listening(url)])
    one.notify(WORK)
    one.notify({ type: 'events', runId: 'r1' })
    one.notify({ type: 'cancel', runId: 'r"2\0\ud800é' })
    await eventually(() =>
      expect(other.received).toEqual([WORK, { type: 'events', runId: 'r1' }, { type: 'cancel', runId: 'r"2\0\ud800é' }]),
    )
    other.notify(LAST)
    await eventually(() => expect(one.received).toEqual([LAST]))
    expect([...one.reported, ...other.reported]).toEqual([])
  })

  test('is received on the same channel only, however long its name', async () => {
    const url = await temporaryDatabase()
    const long = 'é'.repeat(100)
    const [one, other, elsewhere] = await Promise.all([
      listening(url, { channel: `${long}1` }),
      listening(url, { channel: `${long}1` }),
      listening(url, { channel: `${long}2` }),
    ])
    one.notify(WORK)
    await other.receives(WORK)
    elsewhere.notify(LAST)
    one.notify(LAST)
    await other.receives(LAST)
    expect([one.received, other.received, elsewhere.received]).toEqual([[], [], []])
  })

  test('before the connection is there is sent once it is', async () => {
    const url = await temporaryDatabase()
    const other = await listening(url)
    open(url).notify(WORK)
    await other.receives(WORK)
  })

  test('just before the end is sent all the same', async () => {
    const url = await temporaryDatabase()
    const [one, other] = await Promise.all([listening(url), listening(url)])
    one.notify(WORK)
    one.notify(LAST)
    await one.close()
    await other.receives(LAST)
  })

  test('a thousand times over is sent in a few messages', async () => {
    const url = await temporaryDatabase()
    const { messages } = await bystander(url)
    const one = await listening(url)
    for (let i = 0; i < 1000; i++) one.notify(i % 2 ? WORK : { type: 'events', runId: 'r1' })
    one.notify(LAST)
    await eventually(() => expect(messages.at(-1)).toContain('last'))
    expect(messages).toHaveLength(1)
  })

  test('of too many runs becomes "anything", in one message', async () => {
    const url = await temporaryDatabase()
    const { messages } = await bystander(url)
    const [one, other] = await Promise.all([listening(url), listening(url)])
    for (let i = 0; i < 1000; i++) one.notify({ type: 'events', runId: `run ${i}`.padEnd(26, '.') })
    await other.receives(ANYTHING)
    one.notify(LAST)
    await eventually(() => expect(messages.at(-1)).toContain('last'))
    expect(messages).toHaveLength(2)
    one.notify({ type: 'events', runId: 'x'.repeat(100_000) })
    await other.receives(ANYTHING)
  })

  test('as much as one message holds is sent by name', async () => {
    const url = await temporaryDatabase()
    const [one, other] = await Promise.all([listening(url), listening(url)])
    const changes = Array.from({ length: 263 }, (_, i) => ({ type: 'events' as const, runId: `${i}`.padStart(26, '0') }))
    for (const each of changes) one.notify(each)
    await eventually(() => expect(other.received).toEqual(changes))
  })
})

test('what others say on the channel is not understood, and does no harm', async () => {
  const url = await temporaryDatabase()
  const { client } = await bystander(url)
  const [one, other] = await Promise.all([listening(url), listening(url)])
  const foreign = [
    ...['', 'hello', '{', 'null', '7', '[]', '{}', '{"v":2,"from":"x","changes":["w"]}', '{"v":1,"changes":["w"]}', '{"v":1,"from":"x"}'],
    ...['{"v":1,"from":"x","changes":"w"}', '{"v":1,"from":"x","changes":[7,null,"","z","e","c",{}]}', '{"v":1,"from":"x","probe":"y"}'],
  ]
  for (const payload of foreign) await client.query('SELECT pg_notify($1, $2)', [CHANNEL, payload])
  one.notify(LAST)
  await eventually(() => expect(other.received).toEqual([LAST]))
  expect(other.reported).toEqual([])
})

test('a listener that throws does not end the process', async () => {
  const url = await temporaryDatabase()
  const one = await listening(url)
  const other = await listening(url)
  const failure = new Error('from the listener')
  other.received.push = () => {
    throw failure
  }
  one.notify(WORK)
  await eventually(() => expect(other.reported).toEqual([failure]))
})

describe('the connection', () => {
  test('is none of the pool, and made as the pool makes its own', async () => {
    const url = await temporaryDatabase()
    const { hostname, port, pathname } = new URL(url)
    const config = { host: hostname, port: Number(port), database: pathname.slice(1), user: 'postgres', password: 'hidden' }
    const { clients, Client } = recordedClients()
    const pool = new pg.Pool({ ...config, Client, max: 1 })
    pool.on('error', () => {})
    onTestFinished(() => pool.end())
    const one = await listening(pool)
    const other = await listening(url)
    // The only connection of the pool is busy.
    const busy = await pool.connect()
    one.notify(WORK)
    await other.receives(WORK)
    busy.release()
    expect(pool.totalCount).toBe(1)
    expect(clients.map(({ password }) => password)).toEqual(['hidden', 'hidden'])
    await one.close()
    expect(pool.ended).toBe(false)
  })

  test('of a pool that is busy is used before it could be tested', async () => {
    const url = await temporaryDatabase()
    const pool = new pg.Pool({ connectionString: url, max: 1 })
    pool.on('error', () => {})
    onTestFinished(() => pool.end())
    const busy = await pool.connect()
    const one = open(pool)
    const other = await listening(url)
    one.notify(WORK)
    await other.receives(WORK)
    other.notify(WORK)
    await one.receives(WORK)
    busy.release()
    await one.receives(ANYTHING)
    expect(one.reported).toEqual([])
  })

  test('is opened anew when the server ends it, and nothing is missed', async () => {
    const url = await temporaryDatabase()
    const { client } = await bystander(url)
    const [one, other] = await Promise.all([listening(url), listening(url)])
    for (let round = 0; round < 3; round++) {
      await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'durably' AND pid <> pg_backend_pid()`)
      one.notify(WORK)
      await Promise.all([one.receives(ANYTHING), other.receives(ANYTHING)])
      await receivedAgain(one, other)
    }
  })

  test.skipIf(process.env.DATABASE_URL)('is opened anew after a crash of the server', { timeout: 60_000 }, async () => {
    const server = await startPostgres()
    onTestFinished(() => server.stop())
    const [one, other] = await Promise.all([listening(server.url), listening(server.url)])
    const crashed = server.crash()
    one.notify(WORK)
    await crashed
    await Promise.all([one.receives(ANYTHING), other.receives(ANYTHING)])
    await receivedAgain(one, other)
    for (const { reported } of [one, other]) expect(reported.length).toBeLessThanOrEqual(1)
  })

  test('that cannot be had is reported once, and any number of changes is accepted', async () => {
    const env = hurriedEnv(100)
    const nobody = open('postgres://127.0.0.1:1/nobody', { env })
    for (let i = 0; i < 10_000; i++) nobody.notify({ type: 'events', runId: `${i}` })
    await eventually(() => expect(env.waits.length).toBeGreaterThan(12))
    expect(Math.max(...env.waits)).toBeLessThanOrEqual(60_000)
    expect(nobody.reported).toEqual([expect.objectContaining({ code: 'notifications_unavailable' })])
    expect(String(nobody.reported[0])).toMatch(/ECONNREFUSED.*Polling goes on/)
  })
})

/** What is told just after an outage may be said as "anything", together with what was told during it. */
function receivedAgain(one: Party, other: Party): Promise<void> {
  return eventually(() => {
    one.notify(LAST)
    expect(other.received).toContainEqual(LAST)
    other.received.length = 0
  })
}

describe('behind a pooler that loses notifications', () => {
  test('it is said once, what to do; it is tried again, and works when they arrive', async () => {
    const url = await temporaryDatabase()
    const proxy = await deafProxyTo(url)
    const env = hurriedEnv(20)
    const one = open(proxy.url, { env })
    const other = await listening(url)
    await eventually(() => expect(env.waits.filter((ms) => ms === SELF_TEST_MS).length).toBeGreaterThan(2))
    one.notify(WORK)
    expect(one.received).toEqual([])
    expect(one.reported).toEqual([expect.any(DurablyError)])
    expect(one.reported[0]).toMatchObject({ code: 'notifications_unavailable', message: expect.stringContaining('listenUrl') })
    proxy.letHear()
    await one.receives(ANYTHING)
    await other.receives(WORK)
    other.notify(LAST)
    await one.receives(LAST)
    expect(one.reported).toHaveLength(1)
  })

  test('a direct listenUrl hears', async () => {
    const url = await temporaryDatabase()
    const proxy = await deafProxyTo(url)
    const one = await listening(proxy.url, { listenUrl: url })
    const other = await listening(url)
    other.notify(WORK)
    await one.receives(WORK)
    expect(one.reported).toEqual([])
  })
})

describe('none are to be had', () => {
  test('from what is only like a pool: reported once', async () => {
    const pool = new pg.Pool({ connectionString: await temporaryDatabase() })
    onTestFinished(() => pool.end())
    const like = { connect: () => pool.connect(), end: () => pool.end(), on: pool.on.bind(pool) }
    const one = open(like)
    one.notify(WORK)
    await eventually(() => expect(one.reported).toEqual([expect.objectContaining({ code: 'notifications_unavailable' })]))
    await one.close()
  })

  test('from a plain PostgresDialect', () => {
    expect('openNotifier' in new PostgresDialect({ pool: async () => ({}) as never })).toBe(false)
  })
})

describe('close()', () => {
  test('ends the connection, twice without harm, and nothing is received any more', async () => {
    const url = await temporaryDatabase()
    const { client } = await bystander(url)
    const [one, other] = await Promise.all([listening(url), listening(url)])
    await Promise.all([one.close(), one.close()])
    await one.close()
    await eventually(async () => {
      const { rows } = await client.query(
        `SELECT 1 FROM pg_stat_activity WHERE application_name = 'durably' AND datname = current_database()`,
      )
      expect(rows).toHaveLength(1)
    })
    one.notify(WORK)
    other.notify(WORK)
    await other.close()
    expect([one.received, one.reported]).toEqual([[], []])
  })

  test('at once, before anything was opened', async () => {
    const one = open(await temporaryDatabase())
    await one.close()
    expect([one.received, one.reported]).toEqual([[], []])
  })

  test('while a server that never answers is asked', async () => {
    const silent = createServer({ allowHalfOpen: true })
    onTestFinished(() => void silent.close())
    await once(silent.listen(0, '127.0.0.1'), 'listening')
    const { clients, Client } = recordedClients()
    const one = open(new pg.Pool({ host: '127.0.0.1', port: portOf(silent), Client }))
    const [socket] = await once(silent, 'connection')
    onTestFinished(() => socket.destroy())
    await one.close()
    expect(clients.map(({ connection }) => connection.stream.destroyed)).toEqual([true])
    expect(one.reported).toEqual([])
  })

  test('while it waits to connect again', async () => {
    const pauses: number[] = []
    const timeless = { ...systemEnv(), timer: (ms: number) => pauses.push(ms) }
    const nobody = open('postgres://127.0.0.1:1/nobody', { env: timeless })
    await eventually(() => expect(pauses).toHaveLength(1))
    await nobody.close()
  })
})

describe('a process', () => {
  let program = ''
  beforeAll(async () => {
    program = await bundleChild('postgres-listener', fileURLToPath(new URL('./fixtures/listener.ts', import.meta.url)))
  })

  async function output(...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], { timeout: 15_000 })
    return stdout.trim()
  }

  test('ends after close()', async () => {
    expect(await output(await temporaryDatabase(), 'close')).toBe('anything\nclosed')
  })

  test('ends without close(), if nothing but the notifier is left', async () => {
    expect(await output(await temporaryDatabase())).toBe('anything')
  })

  test('ends while the notifier waits to try again', async () => {
    const proxy = await deafProxyTo(await temporaryDatabase())
    expect(await output(proxy.url)).toBe('notifications_unavailable')
  })
})

interface RecordedClient {
  password: string
  connection: { stream: Socket }
}

function recordedClients() {
  const clients: RecordedClient[] = []
  class Client extends pg.Client {
    constructor(config: pg.ClientConfig) {
      super(config)
      clients.push(this as unknown as RecordedClient)
    }
  }
  return { clients, Client: Client as unknown as NonNullable<pg.PoolConfig['Client']> }
}

function portOf(server: Server): number {
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('it does not listen')
  return address.port
}
