// What clients do to a run that has ended. In each batch the guards read the row as it was, and a read tells what became of it.
import { type RawBuilder, sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import type { RunStatus } from '../../../model/run.ts'
import type { Changed, IfVersion, RunStore } from '../../runs.ts'
import type { SqlContext } from '../shared/deps.ts'
import { canGo, eventType, isRefused, isRetryable, isVersion, target } from '../shared/guards.ts'
import { EVENT_COLUMNS } from '../shared/owner-moves.ts'
import { runRow } from '../shared/rows.ts'
import { statement } from '../shared/statement.ts'

export interface GuardValues {
  id: string
  ifVersion: number | null
}

export interface ClientValues extends GuardValues {
  now: number
  at: string
}

/**
 * What a retry changes, beside the status and the counters. A deadline that is over would only let it fail again.
 * A failed run has no lease. It is taken away all the same: Postgres checks the new row once as it follows from the row of before it
 * waited for the lock, and that one may have been running.
 */
export function retried(now: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`error = NULL, failure = NULL, reason = NULL, output = NULL, finished_at = NULL, cancel_requested_at = NULL, recoveries = 0, attempts = 0,
      retry_generation = lease_generation, deadline_at = CASE WHEN deadline_at > ${now} THEN deadline_at END, lease_owner = NULL, lease_expires_at = NULL`
}

export function clientValues(id: string, { ifVersion }: IfVersion, now: number): ClientValues {
  return { id, ifVersion: ifVersion ?? null, now, at: iso(now) }
}

/** Of a run that was left as it is: whether that is so because it has another version. */
export function changed(version: number, { ifVersion }: IfVersion): Changed | null {
  return ifVersion !== undefined && version !== ifVersion ? { outcome: 'changed', version } : null
}

export function clientMoves({ db, session, env, tables: t, eventLog }: SqlContext): Pick<RunStore, 'retry' | 'delete'> {
  const forgetSignals = statement<ClientValues>(
    db,
    (p) => sql`DELETE FROM ${t.signals} AS s WHERE s.run_id = ${p('id')} AND ${isRefused(t)}
      AND EXISTS (SELECT 1 FROM ${t.runs} AS r WHERE r.id = s.run_id AND ${isRetryable(t)} AND ${isVersion(p)})`,
  )
  /** Reads the row as it was. */
  const event = statement<ClientValues>(
    db,
    (p) => sql`INSERT INTO ${t.events} (${EVENT_COLUMNS})
      SELECT r.id, r.last_event_sequence + 1, ${eventType('retry')}, '{}', ${p('at')} FROM ${t.runs} AS r WHERE r.id = ${p('id')} AND ${isRetryable(t)} AND ${isVersion(p)}`,
  )
  const retry = statement<ClientValues>(
    db,
    (p) => sql`UPDATE ${t.runs} AS r SET status = ${target('retry')}, ${retried(p('now'))},
        version = version + 1, last_event_sequence = last_event_sequence + 1, updated_at = ${p('at')}
      WHERE r.id = ${p('id')} AND ${isRetryable(t)} AND ${isVersion(p)} RETURNING id`,
  )
  const select = statement<{ id: string }>(db, (p) => sql`SELECT * FROM ${t.runs} WHERE id = ${p('id')}`)

  /** Explicitly, because a connection may not enforce foreign keys. */
  const deleteChildren = [t.steps, t.logs, t.events, t.signals].map((table) =>
    statement<GuardValues>(
      db,
      (p) => sql`DELETE FROM ${table} WHERE run_id = ${p('id')}
        AND EXISTS (SELECT 1 FROM ${t.runs} AS r WHERE r.id = ${p('id')} AND ${canGo(t)} AND ${isVersion(p)})`,
    ),
  )
  /** Not the whole row: one that cannot be read can still be deleted. */
  const selectStatus = statement<{ id: string }>(db, (p) => sql`SELECT status, version FROM ${t.runs} WHERE id = ${p('id')}`)
  const deleteRun = statement<GuardValues>(
    db,
    (p) => sql`DELETE FROM ${t.runs} AS r WHERE r.id = ${p('id')} AND ${canGo(t)} AND ${isVersion(p)} RETURNING id`,
  )

  return {
    async retry(id, options = {}) {
      const values = clientValues(id, options, env.wall())
      const queries = [...(eventLog ? [event(values)] : []), forgetSignals(values), retry(values), select(values)]
      const [moved, found] = (await session.write(queries)).slice(-2)
      if (!found?.[0]) return null
      const run = runRow(found[0])
      if (moved?.[0]) return { outcome: 'retried', run }
      return changed(run.version, options) ?? { outcome: 'refused', run }
    },

    async delete(id, options = {}) {
      const values = { id, ifVersion: options.ifVersion ?? null }
      const results = await session.write([selectStatus(values), ...deleteChildren.map((child) => child(values)), deleteRun(values)])
      const found = results.at(0)?.[0]
      if (!found) return null
      const status = found.status as RunStatus
      if (results.at(-1)?.[0]) return { outcome: 'deleted', status }
      return changed(Number(found.version), options) ?? { outcome: 'refused', status }
    },
  }
}
