import { type Dialect, type SqliteDatabase, SqliteDialect } from 'kysely'
import { createDurably } from '../../../../packages/durably/dist/index.js'
import { postgres } from '../../../../packages/durably/dist/postgres/index.js'
import { keepStatements, sqlite } from '../../../../packages/durably/dist/sqlite/index.js'
import { anything } from '../../anything.ts'
import type { Contender, OpenEngine } from '../contender.ts'
import { engineContender } from '../engine-contender.ts'
import { loadPeer } from '../peers.ts'
import { onSqlite, type Place } from '../place.ts'

/** More gain nothing: a claim and a commit are shared by all of them. */
const BEST_CONCURRENCY = 100

/** An engine on any dialect, with one job. */
function openDurably(dialectFor: (place: Place) => Dialect | Promise<Dialect>, { eventLog }: { eventLog: boolean }): OpenEngine {
  return async (place, { steps, concurrency, tick }) => {
    const durably = createDurably({
      dialect: await dialectFor(place),
      concurrency: concurrency === 'best' ? BEST_CONCURRENCY : concurrency,
      eventLog,
    })
    await durably.migrate()
    const job = durably.defineJob({ name: 'job', input: anything }, async (ctx) => {
      if (steps === 0) tick()
      for (let i = 0; i < steps; i++) {
        await ctx.run(`step ${i}`, () => {
          tick()
          return i
        })
      }
    })
    return {
      enqueue: (i) => job.trigger({ i }),
      enqueueMany: (count) => job.batchTrigger(Array.from({ length: count }, (_, i) => ({ payload: { i } }))),
      start: () => durably.start(),
      async unfinished() {
        const { count } = await durably.db
          .selectFrom('runs')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .where('status', 'in', ['pending', 'running'])
          .executeTakeFirstOrThrow()
        return Number(count)
      },
    }
  }
}

function ownDialect(place: Place): Dialect {
  if (place.kind === 'postgres') return postgres(place.url)
  const { file, synchronous } = onSqlite(place)
  return sqlite(file, { durability: synchronous === 'FULL' ? 'full' : 'relaxed' })
}

/** The constructor that better-sqlite3 and libsql share. */
type Database = new (file: string) => SqliteDatabase & { pragma(text: string): unknown }

function dialectOver(load: () => Promise<Database>): (place: Place) => Promise<Dialect> {
  return async (place) => {
    const { file, synchronous } = onSqlite(place)
    const database = new (await load())(file)
    database.pragma('journal_mode = WAL')
    database.pragma(`synchronous = ${synchronous}`)
    return new SqliteDialect({ database: keepStatements(database) })
  }
}

const onBetterSqlite = dialectOver(async () => (await loadPeer<{ default: Database }>('better-sqlite3')).default)
const onLibsql = dialectOver(async () => (await import('libsql')).default as unknown as Database)

const ours = (title: string, differs: string, open: OpenEngine, peers: readonly string[] = []): Contender =>
  engineContender({ title, differs, open, peers })

export const durably = ours('Durably', 'the default settings; best: concurrency 100', openDurably(ownDialect, { eventLog: true }))
export const durablyWithoutEvents = ours('Durably, eventLog: false', 'keeps no event log', openDurably(ownDialect, { eventLog: false }))
export const durablyOnBetterSqlite = ours(
  'Durably on better-sqlite3',
  'through Kysely’s SqliteDialect and `keepStatements`, as the guide says',
  openDurably(onBetterSqlite, { eventLog: true }),
  ['better-sqlite3'],
)
export const durablyOnLibsql = ours(
  'Durably on libsql',
  'through Kysely’s SqliteDialect and `keepStatements`, as the guide says',
  openDurably(onLibsql, { eventLog: true }),
)
