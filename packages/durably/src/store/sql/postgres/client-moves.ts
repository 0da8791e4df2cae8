// Retry and delete: what clients do to a run that has ended. Each is one statement, which locks the run, decides by the locked row and
// returns what became of it.
import { sql } from 'kysely'
import type { RunStore } from '../../runs.ts'
import { recordable } from '../shared/audit.ts'
import { type ClientValues, clientValues, deleteOutcome, type GuardValues, retried, retryOutcome } from '../shared/client-moves.ts'
import { isDeletable, isRefused, isVersion } from '../shared/command-guards.ts'
import { canMove, eventType, target } from '../shared/guards.ts'
import type { LazyDeps } from '../shared/lazy-deps.ts'
import type { Param } from '../shared/statement.ts'

type P = Param<ClientValues>

export function clientMoves(deps: LazyDeps): Pick<RunStore, 'retry' | 'delete'> {
  const { session, env, tables: t, into, syntax, eventLog, runRow } = deps
  const events = (p: P) =>
    sql`, events AS (INSERT INTO ${into.events} SELECT id, last_event_sequence, ${eventType('retry')}, '{}', ${p('at')} FROM moved)`
  /**
   * PG1: `r` is the run as it is now, and the guards ask it, not the row that the update finds. The run above it is locked first, as a
   * cancel does, so that none comes in between.
   */
  const retry = recordable<ClientValues>(
    deps,
    (p, entry) => sql`${syntax.clock(p)},
      parent AS MATERIALIZED (SELECT cancel_requested_at FROM ${t.runs}
        WHERE id = (SELECT parent_run_id FROM ${t.runs} WHERE id = ${p('id')}) FOR SHARE),
      locked AS (SELECT * FROM ${t.runs} WHERE id = ${p('id')} AND (SELECT count(*) FROM parent) >= 0 FOR NO KEY UPDATE),
      r AS (SELECT id, status, version FROM locked),
      moved AS (UPDATE ${t.runs} AS run SET status = ${target('retry')}, ${retried(syntax.now(p))}, version = run.version + 1,
          last_event_sequence = last_event_sequence + 1, updated_at = ${p('at')}
        FROM r WHERE run.id = r.id AND ${canMove('retry')} AND ${isVersion(p)}
          AND NOT EXISTS (SELECT 1 FROM parent WHERE cancel_requested_at IS NOT NULL) RETURNING run.*)${eventLog ? events(p) : sql``},
      forgotten AS (DELETE FROM ${t.signals} AS s USING moved WHERE s.run_id = moved.id AND ${isRefused(t)})${entry(sql`moved`, sql`(SELECT version FROM moved)`)}
      SELECT 'retried' AS outcome, moved.*${syntax.readAt} FROM moved UNION ALL SELECT 'refused', locked.*${syntax.readAt} FROM locked WHERE NOT EXISTS (SELECT 1 FROM moved)`,
  )
  /** Its events, steps and log lines go with it, also those that were committed while this waited for the lock. */
  const remove = recordable<GuardValues & { now: number }>(
    deps,
    (p, entry) => sql`${syntax.clock(p)}, r AS (SELECT id, status, version, parent_run_id FROM ${t.runs} WHERE id = ${p('id')} FOR UPDATE),
      gone AS (DELETE FROM ${t.runs} AS run USING r WHERE run.id = r.id AND ${isDeletable(t)} AND ${isVersion(p)} RETURNING run.id)${entry(sql`gone`)}
      SELECT status, version, EXISTS (SELECT 1 FROM gone) AS deleted FROM r`,
  )

  return {
    async retry(id, options = {}) {
      const [rows] = await session.write([retry(clientValues(id, options, env.wall()), options)])
      const row = rows?.[0]
      return retryOutcome(row && runRow(row), row?.outcome === 'retried', options)
    },

    async delete(id, options = {}) {
      const [rows] = await session.write([remove({ id, ifVersion: options.ifVersion ?? null, now: env.wall() }, options)])
      const row = rows?.[0]
      return deleteOutcome(row, row?.deleted === true, options)
    },
  }
}
