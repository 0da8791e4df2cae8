// The inbox: events are stored by anybody, and read and forgotten by the leader. Their delivery is in `deliver.ts` of each database.
import { sql } from 'kysely'
import { DurablyError } from '../../../model/errors.ts'
import type { InboxStore } from '../../cluster/inbox.ts'
import { DEFAULT_SETTINGS } from '../../cluster/settings.ts'
import type { LazyDeps } from './lazy-deps.ts'
import { setting } from './setting.ts'
import type { Param } from './statement.ts'

interface EventValues {
  id: string
  name: string
  data: string | null
  dedupeKey: string | null
  now: number
}

export function sqlInbox({ statement, session, env, tables: t, syntax, reader }: LazyDeps): Omit<InboxStore, 'deliverEvent'> {
  /** N3: the key of such an event is free again. */
  const keptMs = setting({ tables: t, syntax }, 'dedupeForMs', sql.lit(DEFAULT_SETTINGS.dedupeForMs))
  const isOld = (p: Param<{ now: number }>) => sql`processed_at <= ${syntax.now(p)} - ${keptMs}`
  const freeKey = statement<EventValues>(
    (p) => sql`${syntax.clock(p)} DELETE FROM ${t.inbox} WHERE dedupe_key = ${p('dedupeKey')} AND ${isOld(p)}`,
  )
  const insert = statement<EventValues>(
    (p) => sql`${syntax.clock(p)} INSERT INTO ${t.inbox} (id, name, data, dedupe_key, created_at)
      VALUES (${p('id')}, ${p('name')}, ${p('data')}, ${p('dedupeKey')}, ${syntax.now(p)}) ON CONFLICT DO NOTHING`,
  )
  const stored = statement<EventValues>((p) => sql`SELECT id FROM ${t.inbox} WHERE dedupe_key = ${p('dedupeKey')}`)
  const find = statement<{ limit: number }>(
    (p) =>
      sql`SELECT id, name, data FROM ${t.inbox} WHERE processed_at IS NULL ORDER BY processed_at, created_at, id LIMIT CAST(${p('limit')} AS bigint)`,
  )
  const forget = statement<{ now: number; limit: number }>(
    (p) => sql`${syntax.clock(p)} DELETE FROM ${t.inbox} WHERE id IN (SELECT id FROM ${t.inbox} WHERE ${isOld(p)}
      ORDER BY processed_at LIMIT CAST(${p('limit')} AS bigint)) RETURNING id`,
  )

  return {
    async putEvent(event, { within } = {}) {
      const { id, dedupeKey } = event
      const values = { ...event, now: env.wall() }
      const queries = dedupeKey === null ? [insert(values)] : [freeKey(values), insert(values), stored(values)]
      const answers = within ? await session.writeWithin(within, queries) : await session.write(queries)
      if (dedupeKey === null) return { outcome: 'stored', id }
      const [row] = answers.at(-1) ?? []
      // On Postgres, between two statements: the event that has the key became old.
      if (!row)
        throw new DurablyError(
          'store_busy',
          `event ${JSON.stringify(event.name)} met the end of an earlier one with its dedupeKey; send it again`,
        )
      return { outcome: row.id === id ? 'stored' : 'known', id: String(row.id) }
    },
    async findEvents(query) {
      const rows = await session.read(find({ limit: query.limit }))
      return rows.map((row) => {
        const read = reader('event', row.id, row)
        return { id: read.text('id'), name: read.text('name'), data: read.textOrNull('data') }
      })
    },
    async forgetEvents(limit) {
      const [rows = []] = await session.write([forget({ now: env.wall(), limit })])
      return rows.length
    },
  }
}
