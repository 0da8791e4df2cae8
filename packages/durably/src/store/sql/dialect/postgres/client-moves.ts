// The moves of clients, each as one statement: it locks the run, decides by the row that it got, and tells what became of it.
import { type RawBuilder, sql } from 'kysely'
import type { RunStatus } from '../../../../model/run.ts'
import type { RunStore } from '../../../runs.ts'
import type { SqlContext } from '../../context.ts'
import { canGo, canMove, eventType, isActive, isRefused, isVersion, target } from '../../guards.ts'
import { runRow } from '../../rows.ts'
import { CLIENT_MOVES, type ClientValues, canBeAsked, changed, clientValues, type GuardValues } from '../../runs/cancel-retry-delete.ts'
import { awokenParent, EVENT_COLUMNS } from '../../runs/owner-moves.ts'
import { type Param, statement } from '../../statement.ts'

type P = Param<ClientValues>
type Fragment = RawBuilder<unknown>

export function clientMoves({ db, session, env, tables: t, syntax, eventLog }: SqlContext): Pick<RunStore, 'cancel' | 'retry' | 'delete'> {
  /** PG1: `r` is the run as it is now, and the guards ask it, not the row that the update finds. */
  const locked = (p: P) => sql`${syntax.clock(p)},
    locked AS (SELECT * FROM ${t.runs} WHERE id = ${p('id')} FOR NO KEY UPDATE),
    r AS (SELECT id, status, cancel_requested_at, version FROM locked)`
  const moved = (move: keyof typeof CLIENT_MOVES, p: P) => sql`
    moved AS (UPDATE ${t.runs} AS run SET status = ${target(move)}, ${CLIENT_MOVES[move](syntax.now(p))}, version = run.version + 1,
        last_event_sequence = last_event_sequence + 1, updated_at = ${p('at')}
      FROM r WHERE run.id = r.id AND ${canMove(move)} AND ${isVersion(p)} RETURNING run.*)${eventLog ? told(move, p) : sql``}`
  const told = (move: keyof typeof CLIENT_MOVES, p: P) =>
    sql`, told AS (INSERT INTO ${t.events} (${EVENT_COLUMNS}) SELECT id, last_event_sequence, ${eventType(move)}, '{}', ${p('at')} FROM moved)`
  const untouched = (...changed: Fragment[]) =>
    sql`SELECT 'refused' AS outcome, locked.* FROM locked WHERE ${sql.join(
      changed.map((table) => sql`NOT EXISTS (SELECT 1 FROM ${table})`),
      sql` AND `,
    )}`

  const cancel = statement<ClientValues>(
    db,
    (p) => sql`${locked(p)}, ${moved('cancel', p)},
      parents AS (UPDATE ${t.runs} AS r SET ${awokenParent(syntax.now(p))} FROM moved WHERE r.id = moved.parent_run_id AND ${isActive()}),
      asked AS (UPDATE ${t.runs} AS run SET cancel_requested_at = ${syntax.now(p)}, version = run.version + 1, updated_at = ${p('at')}
        FROM r WHERE run.id = r.id AND ${canBeAsked} AND ${isVersion(p)} RETURNING run.*)
      SELECT 'cancelled' AS outcome, moved.* FROM moved UNION ALL SELECT 'requested', asked.* FROM asked
      UNION ALL ${untouched(sql`moved`, sql`asked`)}`,
  )
  const retry = statement<ClientValues>(
    db,
    (p) => sql`${locked(p)}, ${moved('retry', p)},
      forgotten AS (DELETE FROM ${t.signals} AS s USING moved WHERE s.run_id = moved.id AND ${isRefused(t)})
      SELECT 'retried' AS outcome, moved.* FROM moved UNION ALL ${untouched(sql`moved`)}`,
  )
  /** Its events, steps and log lines go with it, also those that were committed while this waited for the lock. */
  const remove = statement<GuardValues>(
    db,
    (p) => sql`WITH r AS (SELECT id, status, version, parent_run_id FROM ${t.runs} WHERE id = ${p('id')} FOR UPDATE),
      gone AS (DELETE FROM ${t.runs} AS run USING r WHERE run.id = r.id AND ${canGo(t)} AND ${isVersion(p)} RETURNING run.id)
      SELECT status, version, EXISTS (SELECT 1 FROM gone) AS deleted FROM r`,
  )

  return {
    async cancel(id, options = {}) {
      const [rows] = await session.write([cancel(clientValues(id, options, env.wall()))])
      const row = rows?.[0]
      if (!row) return null
      const run = runRow(row)
      if (row.outcome === 'cancelled') return { outcome: 'cancelled', run }
      const mismatch = row.outcome === 'requested' ? null : changed(run.version, options)
      if (mismatch) return mismatch
      return { outcome: run.status === 'running' ? 'requested' : 'refused', run }
    },

    async retry(id, options = {}) {
      const [rows] = await session.write([retry(clientValues(id, options, env.wall()))])
      const row = rows?.[0]
      if (!row) return null
      const run = runRow(row)
      if (row.outcome === 'retried') return { outcome: 'retried', run }
      return changed(run.version, options) ?? { outcome: 'refused', run }
    },

    async delete(id, options = {}) {
      const [rows] = await session.write([remove({ id, ifVersion: options.ifVersion ?? null })])
      const row = rows?.[0]
      if (!row) return null
      const status = row.status as RunStatus
      if (row.deleted) return { outcome: 'deleted', status }
      return changed(Number(row.version), options) ?? { outcome: 'refused', status }
    },
  }
}
