import { sql } from 'kysely'
import { LOG_LEVELS, type LogRow } from '../../../model/log.ts'
import type { LogStore } from '../../logs.ts'
import type { LazyDeps } from './lazy-deps.ts'
import type { Row } from './session.ts'

export function sqlLogs({ statement, session, tables: t, into, syntax, reader, chunked, jsonRows, logValues }: LazyDeps): LogStore {
  const logRow = (row: Row) => readLine(reader('log line', row.id, row))
  const append = statement<{ lines: string }>(
    (p) => sql`INSERT INTO ${into.logs}
      SELECT e.value ->> 0, r.id, e.value ->> 2, e.value ->> 3, e.value ->> 4, e.value ->> 5, e.value ->> 6
      FROM ${syntax.elements(p('lines'))} AS e CROSS JOIN ${t.runs} AS r WHERE r.id = e.value ->> 1
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

function readLine(read: ReturnType<LazyDeps['reader']>): LogRow {
  return {
    id: read.text('id'),
    runId: read.text('run_id'),
    stepName: read.textOrNull('step_name'),
    level: read.oneOf('level', LOG_LEVELS),
    message: read.text('message'),
    data: read.textOrNull('data'),
    timestamp: read.text('timestamp'),
  }
}

function charsOf(line: LogRow): number {
  return line.message.length + (line.data?.length ?? 0)
}
