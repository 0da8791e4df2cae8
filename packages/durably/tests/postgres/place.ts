// Databases for tests, on the one server of the run.
import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Dialect, PostgresDialect } from 'kysely'
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { postgres } from '../../src/postgres/index.ts'
import { openStore } from '../sql/place.ts'
import './global-setup.ts'

async function serverUrl(): Promise<string> {
  const answer = JSON.parse(await text(connect(inject('postgresDoor'))))
  if (typeof answer.url !== 'string') throw new Error(answer.error)
  return answer.url
}

export interface TestDatabase {
  url: string
  drop(): Promise<void>
}

/** An empty database of its own; whoever is still connected when it is dropped is cut off. */
export async function createDatabase(): Promise<TestDatabase> {
  const server = await serverUrl()
  const name = `durably_${randomUUID().replaceAll('-', '')}`
  await runOn(server, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => runOn(server, `DROP DATABASE ${name} WITH (FORCE)`) }
}

/** The same, dropped when the test has finished. */
export async function temporaryDatabase(): Promise<string> {
  const { url, drop } = await createDatabase()
  onTestFinished(drop)
  return url
}

async function runOn(url: string, sql: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(sql)
  await client.end()
}

/** Both ways a user can hand us Postgres; neither ends the pool. */
export const DIALECTS: { name: string; over(pool: pg.Pool): Dialect }[] = [
  { name: 'postgres()', over: (pool) => postgres(pool) },
  {
    name: 'a plain PostgresDialect',
    over: (pool) => new PostgresDialect({ pool: { connect: () => pool.connect(), end: async () => {} } }),
  },
]

/** A migrated store in a database of its own. */
export async function migratedPostgres(url?: string) {
  const place = url ?? (await temporaryDatabase())
  const store = openStore(postgres(place))
  await store.migrate()
  return { store, url: place }
}
