import { sql } from 'kysely'
import type { LogRow } from '../../../model/log.ts'
import type { LogStore } from '../../logs.ts'
import type { SqlDeps } from './deps.ts'
import { chunked, type JsonRow, jsonRows } from './json-rows.ts'
import { logRow } from './rows.ts'

export function sqlLogs({ statement, session, tables: t, into, syntax }: SqlDeps): LogStore {
  const append = statement<{ lines: string }>(
    (p) => sql`INSERT INTO ${into.logs}
      SELECT e.value ->> 0, r.id, e.value ->> 2, e.value ->> 3, e.value ->> 4, e.value ->> 5, e.value ->> 6
      FROM ${syntax.elements(p('lines'))} AS e JOIN ${t.runs} AS r ON r.id = e.value ->> 1 WHERE true
      ORDER BY e.key ${syntax.keep}
      ON CONFLICT DO NOTHING`,
  )
  const list = statement<{ runId: string; after: string; limit: number }>(
    (p) => sql`SELECT * FROM ${t.logs} WHERE run_id = ${p('runId')} AND id > ${p('after')} ORDER BY id LIMIT CAST(${p('limit')} AS bigint)`,
  )
  const find = statement<{ runId: string; ids: string }>(
    (p) =>
      sql`SELECT l.* FROM ${syntax.texts(p('ids'))} AS wanted CROSS JOIN ${t.logs} AS l WHERE l.id = wanted.value AND l.run_id = ${p('runId')}`,
  )
  return {
    async append(lines) {
      await session.write(chunked(lines, charsOf).map((chunk) => append({ lines: jsonRows(chunk.map(logValues)) })))
    },
    async list(runId, { after = '', limit = Number.MAX_SAFE_INTEGER } = {}) {
      return (await session.read(list({ runId, after, limit }))).map(logRow)
    },
    find: async (runId, ids) => (await session.read(find({ runId, ids: JSON.stringify(ids) }))).map(logRow),
  }
}

/** In the order of the columns. */
export function logValues(line: LogRow): JsonRow {
  return [line.id, line.runId, line.stepName, line.level, line.message, line.data, line.timestamp]
}

function charsOf(line: LogRow): number {
  return line.message.length + (line.data?.length ?? 0)
}
