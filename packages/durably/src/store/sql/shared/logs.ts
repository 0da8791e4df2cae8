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
  const list = statement<{ runId: string }>(
    (p) => sql`SELECT * FROM ${t.logs} WHERE run_id = ${p('runId')} ORDER BY ${syntax.insertionOrder}`,
  )
  const find = statement<{ runId: string; ids: string }>(
    (p) =>
      sql`SELECT l.* FROM ${syntax.texts(p('ids'))} AS wanted JOIN ${t.logs} AS l ON l.id = wanted.value WHERE l.run_id = ${p('runId')}`,
  )
  return {
    async append(lines) {
      await session.write(chunked(lines, charsOf).map((chunk) => append({ lines: jsonRows(chunk.map(logValues)) })))
    },
    list: async (runId) => (await session.read(list({ runId }))).map(logRow),
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
