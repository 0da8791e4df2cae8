// The moves of clients. In each batch the event reads the row as it was, the update moves it, and a last read tells
// what became of it.
import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import type { RunStatus } from '../../../model/run.ts'
import type { Move } from '../../../model/transitions.ts'
import type { Changed, IfVersion, RunStore } from '../../runs.ts'
import type { SqlContext } from '../context.ts'
import { canGo, canMove, eventType, isActive, isRefused, isVersion, target } from '../guards.ts'
import { runRow } from '../rows.ts'
import type { Tables } from '../schema.ts'
import { type Param, statement } from '../statement.ts'
import { awokenParent } from './owner-moves.ts'

export interface GuardValues {
  id: string
  ifVersion: number | null
}

export interface ClientValues extends GuardValues {
  now: number
  at: string
}

/**
 * No run that a client can move has a lease. It is taken away all the same: Postgres checks the new row once as it follows
 * from the row of before it waited for the lock, and that one may have been running.
 */
const NO_LEASE = sql`lease_owner = NULL, lease_expires_at = NULL`

/** What a move of a client changes, beside the status and the counters. */
export const CLIENT_MOVES = {
  cancel: (now: RawBuilder<unknown>) => sql`cancel_requested_at = ${now}, finished_at = ${now}, ${NO_LEASE}`,
  /** A deadline that is over would only let it fail again. */
  retry: (now: RawBuilder<unknown>) =>
    sql`error = NULL, failure = NULL, reason = NULL, output = NULL, finished_at = NULL, cancel_requested_at = NULL, recoveries = 0, attempts = 0,
      retry_generation = lease_generation, deadline_at = CASE WHEN deadline_at > ${now} THEN deadline_at END, ${NO_LEASE}`,
} satisfies { [move in Move]?: (now: RawBuilder<unknown>) => RawBuilder<unknown> }

/** Of the run `r`. Asked once is enough: the first request keeps its time. */
export const canBeAsked = sql`r.status = 'running' AND r.cancel_requested_at IS NULL`

/** The run `r` triggered the one that has just been cancelled. */
function isEndedParent(t: Pick<Tables, 'runs'>, p: Param<ClientValues>): RawBuilder<unknown> {
  return sql`${isActive()} AND r.id = (SELECT child.parent_run_id FROM ${t.runs} AS child WHERE child.id = ${p('id')} AND child.status = ${target('cancel')} AND child.version = coalesce(${p('ifVersion')} + 1, child.version))`
}

export function clientValues(id: string, { ifVersion }: IfVersion, now: number): ClientValues {
  return { id, ifVersion: ifVersion ?? null, now, at: iso(now) }
}

/** Of a run that was left as it is: whether that is so because it has another version. */
export function changed(version: number, { ifVersion }: IfVersion): Changed | null {
  return ifVersion !== undefined && version !== ifVersion ? { outcome: 'changed', version } : null
}

export function clientMoves({ db, session, env, tables: t, eventLog }: SqlContext): Pick<RunStore, 'cancel' | 'retry' | 'delete'> {
  const event = (move: Move) =>
    statement<ClientValues>(
      db,
      (p) => sql`INSERT INTO ${t.events} (run_id, seq, event_type, payload, created_at)
        SELECT r.id, r.last_event_sequence + 1, ${eventType(move)}, '{}', ${p('at')} FROM ${t.runs} AS r WHERE r.id = ${p('id')} AND ${canMove(move)} AND ${isVersion(p)}`,
    )
  const update = (move: keyof typeof CLIENT_MOVES) =>
    statement<ClientValues>(
      db,
      (p) => sql`UPDATE ${t.runs} AS r SET status = ${target(move)}, ${CLIENT_MOVES[move](p('now'))},
          version = version + 1, last_event_sequence = last_event_sequence + 1, updated_at = ${p('at')}
        WHERE r.id = ${p('id')} AND ${canMove(move)} AND ${isVersion(p)} RETURNING id`,
    )
  const select = statement<{ id: string }>(db, (p) => sql`SELECT * FROM ${t.runs} WHERE id = ${p('id')}`)

  const cancelEvent = event('cancel')
  const cancel = update('cancel')
  const requestCancel = statement<ClientValues>(
    db,
    (p) => sql`UPDATE ${t.runs} AS r SET cancel_requested_at = ${p('now')}, version = version + 1, updated_at = ${p('at')}
      WHERE r.id = ${p('id')} AND ${canBeAsked} AND ${isVersion(p)} RETURNING id`,
  )

  const wakeParent = statement<ClientValues>(
    db,
    (p) => sql`UPDATE ${t.runs} AS r SET ${awokenParent(p('now'))} WHERE ${isEndedParent(t, p)}`,
  )

  const forgetSignals = statement<ClientValues>(
    db,
    (p) => sql`DELETE FROM ${t.signals} AS s WHERE s.run_id = ${p('id')} AND ${isRefused(t)}
      AND EXISTS (SELECT 1 FROM ${t.runs} AS r WHERE r.id = s.run_id AND ${canMove('retry')} AND ${isVersion(p)})`,
  )
  const retryEvent = event('retry')
  const retry = update('retry')

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

  /** The event reads the row as it was. */
  async function move(event: CompiledQuery, queries: readonly CompiledQuery[]) {
    return eventLog ? (await session.write([event, ...queries])).slice(1) : session.write(queries)
  }

  return {
    async cancel(id, options = {}) {
      const values = clientValues(id, options, env.wall())
      const [cancelled, asked, , found] = await move(cancelEvent(values), [
        cancel(values),
        requestCancel(values),
        wakeParent(values),
        select(values),
      ])
      if (!found?.[0]) return null
      const run = runRow(found[0])
      if (cancelled?.[0]) return { outcome: 'cancelled', run }
      const mismatch = asked?.[0] ? null : changed(run.version, options)
      if (mismatch) return mismatch
      return { outcome: run.status === 'running' ? 'requested' : 'refused', run }
    },

    async retry(id, options = {}) {
      const values = clientValues(id, options, env.wall())
      const [, retried, found] = await move(retryEvent(values), [forgetSignals(values), retry(values), select(values)])
      if (!found?.[0]) return null
      const run = runRow(found[0])
      if (retried?.[0]) return { outcome: 'retried', run }
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
