// The archive of an SQL store. It runs in the background, so an operation may take several round trips, all in one transaction.
import { type RawBuilder, sql } from 'kysely'
import type { ArchivableRun, ArchiveStore } from '../../archive.ts'
import type { SqlDeps } from './deps.ts'
import { canMove, isTerminal } from './guards.ts'
import type { Param } from './statement.ts'

interface BeginValues {
  ids: string
  olderThanMs: number
  now: number
}

interface MoveValues {
  runId: string
  version: number
  logRef: string
  nextRef: string
  firstSeq: number
  lastSeq: number
  lineIds: string
}

export function sqlArchive(deps: SqlDeps): ArchiveStore {
  const { statement, session, env, tables: t, syntax } = deps
  const candidates = candidatesOf(deps)
  const begin = statement<BeginValues>(
    (p) => sql`${syntax.clock(p)} UPDATE ${t.runs} AS r SET log_ref = coalesce(log_ref, '')
      WHERE r.id IN (SELECT wanted.value FROM ${syntax.texts(p('ids'))} AS wanted) AND ${isTerminal()}
        AND r.finished_at <= ${syntax.now(p)} - ${p('olderThanMs')}
        AND NOT (${canMove('retry')} AND coalesce(r.streams, '[]') <> '[]')
      RETURNING id, version, log_ref`,
  )
  const removed = statement<{ limit: number }>(
    (p) => sql`SELECT run_id FROM ${t.removals} WHERE run_id > '' ORDER BY run_id LIMIT CAST(${p('limit')} AS bigint)`,
  )
  const forget = statement<{ ids: string }>(
    (p) => sql`DELETE FROM ${t.removals} WHERE run_id IN (SELECT wanted.value FROM ${syntax.texts(p('ids'))} AS wanted)`,
  )
  return {
    async candidates(page) {
      return (await session.read(candidates(page))).map(({ id }) => String(id))
    },
    async begin(runIds, olderThanMs) {
      const [rows = []] = await session.write([begin({ ids: JSON.stringify(runIds), olderThanMs, now: env.wall() })])
      return rows.map(archivable).sort((a, b) => (a.id < b.id ? -1 : 1))
    },
    move: moveTo(deps),
    removed: async (limit) => (await session.read(removed({ limit }))).map(({ run_id }) => String(run_id)),
    async forget(runIds) {
      await session.write([forget({ ids: JSON.stringify(runIds) })])
    },
  }
}

/** Leaps from the rows of one run to those of the next: what was archived has none, so it costs nothing. */
function candidatesOf({ statement, tables: t }: SqlDeps) {
  type P = Param<{ after: string; before: string; limit: number }>
  const next = (id: RawBuilder<unknown>, p: P) => {
    const first = (table: RawBuilder<unknown>) =>
      sql`SELECT min(run_id) AS id FROM ${table} WHERE run_id > ${id} AND run_id < ${p('before')}`
    return sql`(SELECT min(found.id) FROM (${first(t.events)} UNION ALL ${first(t.logs)}) AS found)`
  }
  return statement<{ after: string; before: string; limit: number }>(
    (p) => sql`WITH RECURSIVE walk(id) AS (
        SELECT ${next(p('after'), p)}
        UNION ALL SELECT ${next(sql`walk.id`, p)} FROM walk WHERE walk.id IS NOT NULL)
      SELECT id FROM (SELECT id FROM walk LIMIT CAST(${p('limit')} AS bigint)) AS page WHERE id IS NOT NULL`,
  )
}

/** The update decides. The rest asks only whether it, or the same one before it, took effect. */
function moveTo({ statement, session, tables: t, syntax }: SqlDeps): ArchiveStore['move'] {
  const note = statement<MoveValues>(
    (p) => sql`UPDATE ${t.runs} SET log_ref = ${p('nextRef')}
      WHERE id = ${p('runId')} AND version = ${p('version')} AND log_ref = ${p('logRef')}`,
  )
  const isNoted = (p: Param<MoveValues>) => sql`EXISTS (SELECT 1 FROM ${t.runs} WHERE id = ${p('runId')} AND log_ref = ${p('nextRef')})`
  const events = statement<MoveValues>(
    (p) => sql`DELETE FROM ${t.events} WHERE run_id = ${p('runId')} AND seq BETWEEN ${p('firstSeq')} AND ${p('lastSeq')} AND ${isNoted(p)}`,
  )
  const lines = statement<MoveValues>(
    (p) => sql`DELETE FROM ${t.logs} WHERE run_id = ${p('runId')}
      AND id IN (SELECT moved.value FROM ${syntax.texts(p('lineIds'))} AS moved) AND ${isNoted(p)}`,
  )
  const outcome = statement<MoveValues>((p) => sql`SELECT log_ref FROM ${t.runs} WHERE id = ${p('runId')}`)
  return async (move) => {
    const values = { ...move, lineIds: JSON.stringify(move.lineIds) }
    const results = await session.write([note, events, lines, outcome].map((part) => part(values)))
    const run = results.at(-1)?.[0]
    if (!run) return 'gone'
    return run.log_ref === move.nextRef ? 'moved' : 'changed'
  }
}

function archivable({ id, version, log_ref }: Readonly<Record<string, unknown>>): ArchivableRun {
  return { id: String(id), version: Number(version), logRef: String(log_ref) }
}
