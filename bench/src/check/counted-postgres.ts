// Postgres, counted on the wire (statements, round trips) and by the server itself (transactions that got an id, bytes of the log).
import pg from 'pg'
import { postgres } from '../../../packages/durably/dist/postgres/index.js'
import type { CountedStore, Counts } from './counts.ts'

const SERVER_COUNTS = `SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS commits, pg_current_wal_insert_lsn() - '0/0' AS wal`

/** On an empty database that nobody else uses. */
export async function countedPostgres(url: string): Promise<CountedStore> {
  const wire = { statements: 0, roundTrips: 0 }
  const pool = new pg.Pool({ connectionString: url, max: 10 })
  pool.on('connect', (client) => {
    const connection = Reflect.get(client, 'connection') as NodeJS.EventEmitter
    connection.on('commandComplete', () => {
      wire.statements += 1
    })
    connection.on('readyForQuery', () => {
      wire.roundTrips += 1
    })
  })
  const aside = new pg.Client(url)
  await aside.connect()
  return {
    dialect: () => postgres(pool),
    async read(): Promise<Counts> {
      const { rows } = await aside.query<{ commits: string; wal: string }>(SERVER_COUNTS)
      return { ...wire, commits: Number(rows[0]?.commits), walBytes: Number(rows[0]?.wal) }
    },
    close: async () => void (await Promise.all([pool.end(), aside.end()])),
  }
}
