import { sql } from 'kysely'
import type { EventStore } from '../events.ts'
import type { SqlContext } from './context.ts'
import { eventRow } from './rows.ts'
import { statement } from './statement.ts'

export function sqlEvents({ db, session, tables: t }: SqlContext): EventStore {
  const list = statement<{ runId: string; after: number; limit: number }>(
    db,
    (p) => sql`SELECT * FROM ${t.events} WHERE run_id = ${p('runId')} AND seq > ${p('after')} ORDER BY seq LIMIT ${p('limit')}`,
  )
  return {
    async list(runId, { after = 0, limit = Number.MAX_SAFE_INTEGER } = {}) {
      return (await session.read(list({ runId, after, limit }))).map(eventRow)
    },
  }
}
