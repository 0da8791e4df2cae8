// A Postgres server of our own, which crashes, and a line to it that loses, delays and cuts.
//   - Workers and clients go through the line. The judge does not; but when the server is gone, it is gone for the judge as well.
import pg from 'pg'
import { postgres } from '../../../packages/durably/dist/postgres/index.js'
import { type SqlStore, sqlStore } from '../../../packages/durably/dist/store/sql/sql-store.js'
import { FaultyLine, type LineFault } from '../../dist/postgres/faulty-line.js'
import { type PostgresServer, startPostgres } from '../../dist/postgres/server.js'
import { LATE_LOG_LINES } from './ledger.ts'
import type { Fault, Place, PlaceOptions } from './place.ts'
import { settles } from './settles.ts'

/** One that is waited for in vain within a lease, so that its write is sent again; one of about a lease, and one beyond. */
const QUERY_TIMEOUTS_LEASES = [0.6, 1, 3]
/** A judge in the same process may delay the handling of replies for so long. */
const CLIENT_TIMEOUT_MS = 3000

const RESTART_MS_MIN = 5000
const RESTART_MS_MAX = 20_000
/** So that also a short storm has some. */
const RESTARTS_MIN = 3
const LINE_FAULT_EVERY_MS = 250
const TERMINATE_EVERY_MS = 1200
const DELAY_LEASES_MAX = 1.5
/** Rare, because a client waits for a connection much longer than for a lease. */
const SWALLOWS_OF_WELCOMES = 0.02

export async function openPostgresPlace(options: PlaceOptions): Promise<Place> {
  const server = await startPostgres({ own: true })
  try {
    const line = await FaultyLine.to(server.url)
    const store = sqlStore({ dialect: postgres(server.url) })
    await store.migrate()
    return placeOf(server, line, store, options)
  } catch (error) {
    await server.stop()
    throw error
  }
}

function placeOf(server: PostgresServer, line: FaultyLine, store: SqlStore, { leaseMs, seconds }: PlaceOptions): Place {
  const client = sqlStore({ dialect: postgres(line.url, { queryTimeout: CLIENT_TIMEOUT_MS }) })
  let restarts = 0
  let terminated = 0
  const restartMsMax = Math.min(RESTART_MS_MAX, Math.max(RESTART_MS_MIN, (seconds * 1000) / RESTARTS_MIN))
  const faults: Fault[] = [
    {
      name: 'server',
      waitMs: () => between(RESTART_MS_MIN, restartMsMax),
      async strike() {
        await server.crash()
        restarts++
      },
    },
    { name: 'line', waitMs: () => between(0, 2 * LINE_FAULT_EVERY_MS), strike: async () => line.order(lineFault(leaseMs)) },
    {
      name: 'server',
      waitMs: () => between(0, 2 * TERMINATE_EVERY_MS),
      async strike() {
        terminated += await terminateOne(server.url)
      },
    },
  ]
  return {
    leaseMs,
    concurrency: 4,
    strikesPerS: { kill: 1.5, freeze: 2, stop: 0.7 },
    pausedMax: 3,
    clockRangeMs: 3 * 3_600_000,
    clockIsOurs: false,
    expectedTroubles: new Set([
      'lease_lost',
      'run_stuck',
      'store_busy',
      'store_unavailable',
      'run_not_retryable',
      LATE_LOG_LINES,
      'notifications_unavailable',
    ]),
    faults,
    figures: () => ({ restarts, ...line.figures, terminated }),
    address: () => ({ kind: 'postgres', url: line.url, queryTimeout: Math.round(oneOf(QUERY_TIMEOUTS_LEASES) * leaseMs) }),
    client,
    store,
    atOneMoment: (look) => atOneMoment(server.url, look),
    integrity: async () => [],
    calm: () => line.order(null),
    async close() {
      // This works even if the connection waits for a reply for ever.
      await settles(client.close())
      await store.close()
      line.close()
      await server.stop()
    },
  }
}

function lineFault(leaseMs: number): LineFault {
  if (Math.random() < SWALLOWS_OF_WELCOMES) return { type: 'swallow welcome' }
  const ms = between(0, DELAY_LEASES_MAX * leaseMs)
  return oneOf<LineFault>([
    { type: 'cut request' },
    { type: 'cut reply' },
    { type: 'delay request', ms },
    { type: 'delay reply', ms },
    { type: 'swallow' },
  ])
}

/** All reads use one connection, because another one would see a later state. */
async function atOneMoment<T>(url: string, look: (store: SqlStore) => Promise<T>): Promise<T> {
  return onConnection(url, async (client) => {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const only = Object.assign(client, { release: () => {} })
    return look(sqlStore({ dialect: postgres({ connect: async () => only, end: async () => {}, on: () => {} }) }))
  })
}

/** One of those that come through the line. Answers how many were found. */
async function terminateOne(url: string): Promise<number> {
  const victim = `SELECT pid FROM pg_stat_activity WHERE application_name = 'durably' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1`
  const count = onConnection(url, async (client) => (await client.query(`SELECT pg_terminate_backend(pid) FROM (${victim}) v`)).rows.length)
  // The server may be on its way down.
  return count.catch(() => 0)
}

async function onConnection<T>(url: string, act: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  try {
    return await act(client)
  } finally {
    await client.end().catch(() => {})
  }
}

function between(min: number, max: number): number {
  return Math.round(min + Math.random() * (max - min))
}

function oneOf<T>(items: readonly [T, ...T[]] | readonly T[]): T {
  return items[Math.floor(Math.random() * items.length)] as T
}
