import { sql } from 'kysely'
import type { EventStore } from '../../events.ts'
import type { SqlDeps } from './deps.ts'
import { eventRow } from './rows.ts'

export function sqlEvents({ statement, session, tables: t, syntax }: SqlDeps): EventStore {
  const list = statement<{ runId: string; after: number; limit: number }>(
    (p) =>
      sql`SELECT * FROM ${t.events} WHERE run_id = ${p('runId')} AND seq > ${p('after')} ORDER BY seq LIMIT CAST(${p('limit')} AS bigint)`,
  )
  const heads = statement<{ ids: string }>(
    (p) =>
      sql`SELECT r.id, r.last_event_sequence FROM ${syntax.texts(p('ids'))} AS wanted CROSS JOIN ${t.runs} AS r WHERE r.id = wanted.value`,
  )
  return {
    async list(runId, { after = 0, limit = Number.MAX_SAFE_INTEGER } = {}) {
      return (await session.read(list({ runId, after, limit }))).map(eventRow)
    },
    async heads(runIds) {
      const rows = await session.read(heads({ ids: JSON.stringify(runIds) }))
      return new Map(rows.map(({ id, last_event_sequence }) => [String(id), Number(last_event_sequence)]))
    },
  }
}
