// The moves of clients. In each batch the event reads the row as it was, the update moves it, and a last read tells
// what became of it.
import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import type { RunStatus } from '../../../model/run.ts'
import type { Move } from '../../../model/transitions.ts'
import type { RunStore } from '../../runs.ts'
import type { SqlContext } from '../context.ts'
import { canGo, canMove, eventType, isActive, target } from '../guards.ts'
import { runRow } from '../rows.ts'
import type { Tables } from '../schema.ts'
import { type Param, statement } from '../statement.ts'
import { awokenParent } from './owner-moves.ts'

export interface ClientValues {
  id: string
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
  retry: () =>
    sql`error = NULL, failure = NULL, reason = NULL, output = NULL, finished_at = NULL, cancel_requested_at = NULL, recoveries = 0, attempts = 0, ${NO_LEASE}`,
} satisfies { [move in Move]?: (now: RawBuilder<unknown>) => RawBuilder<unknown> }

/** Of the run `r`. Asked once is enough: the first request keeps its time. */
export const canBeAsked = sql`r.status = 'running' AND r.cancel_requested_at IS NULL`

/** The run `r` triggered the one that has just been cancelled. */
function isEndedParent(t: Pick<Tables, 'runs'>, p: Param<ClientValues>): RawBuilder<unknown> {
  return sql`${isActive()} AND r.id = (SELECT child.parent_run_id FROM ${t.runs} AS child WHERE child.id = ${p('id')} AND child.status = ${target('cancel')})`
}

export function clientValues(id: string, now: number): ClientValues {
  return { id, now, at: iso(now) }
}

export function clientMoves({ db, session, env, tables: t, eventLog }: SqlContext): Pick<RunStore, 'cancel' | 'retry' | 'delete'> {
  const event = (move: Move) =>
    statement<ClientValues>(
      db,
      (p) => sql`INSERT INTO ${t.events} (run_id, seq, event_type, payload, created_at)
        SELECT r.id, r.last_event_sequence + 1, ${eventType(move)}, '{}', ${p('at')} FROM ${t.runs} AS r WHERE r.id = ${p('id')} AND ${canMove(move)}`,
    )
  const update = (move: keyof typeof CLIENT_MOVES) =>
    statement<ClientValues>(
      db,
      (p) => sql`UPDATE ${t.runs} AS r SET status = ${target(move)}, ${CLIENT_MOVES[move](p('now'))},
          version = version + 1, last_event_sequence = last_event_sequence + 1, updated_at = ${p('at')}
        WHERE r.id = ${p('id')} AND ${canMove(move)} RETURNING id`,
    )
  const select = statement<{ id: string }>(db, (p) => sql`SELECT * FROM ${t.runs} WHERE id = ${p('id')}`)

  const cancelEvent = event('cancel')
  const cancel = update('cancel')
  const requestCancel = statement<ClientValues>(
    db,
    (p) => sql`UPDATE ${t.runs} AS r SET cancel_requested_at = ${p('now')}, version = version + 1, updated_at = ${p('at')}
      WHERE r.id = ${p('id')} AND ${canBeAsked}`,
  )

  const wakeParent = statement<ClientValues>(
    db,
    (p) => sql`UPDATE ${t.runs} AS r SET ${awokenParent(p('now'))} WHERE ${isEndedParent(t, p)}`,
  )

  const retryEvent = event('retry')
  const retry = update('retry')

  /** Explicitly, because a connection may not enforce foreign keys. */
  const deleteChildren = [t.steps, t.logs, t.events, t.signals].map((table) =>
    statement<{ id: string }>(
      db,
      (p) =>
        sql`DELETE FROM ${table} WHERE run_id = ${p('id')} AND EXISTS (SELECT 1 FROM ${t.runs} AS r WHERE r.id = ${p('id')} AND ${canGo(t)})`,
    ),
  )
  /** Not the whole row: one that cannot be read can still be deleted. */
  const selectStatus = statement<{ id: string }>(db, (p) => sql`SELECT status FROM ${t.runs} WHERE id = ${p('id')}`)
  const deleteRun = statement<{ id: string }>(
    db,
    (p) => sql`DELETE FROM ${t.runs} AS r WHERE r.id = ${p('id')} AND ${canGo(t)} RETURNING id`,
  )

  /** The event reads the row as it was. */
  async function move(event: CompiledQuery, queries: readonly CompiledQuery[]) {
    return eventLog ? (await session.write([event, ...queries])).slice(1) : session.write(queries)
  }

  return {
    async cancel(id) {
      const values = clientValues(id, env.wall())
      const [cancelled, , , found] = await move(cancelEvent(values), [
        cancel(values),
        requestCancel(values),
        wakeParent(values),
        select(values),
      ])
      if (!found?.[0]) return null
      const run = runRow(found[0])
      if (cancelled?.[0]) return { outcome: 'cancelled', run }
      return { outcome: run.status === 'running' ? 'requested' : 'refused', run }
    },

    async retry(id) {
      const values = clientValues(id, env.wall())
      const [retried, found] = await move(retryEvent(values), [retry(values), select(values)])
      return found?.[0] ? { outcome: retried?.[0] ? 'retried' : 'refused', run: runRow(found[0]) } : null
    },

    async delete(id) {
      const values = { id }
      const results = await session.write([selectStatus(values), ...deleteChildren.map((child) => child(values)), deleteRun(values)])
      const found = results.at(0)?.[0]
      const deleted = results.at(-1)?.[0]
      return found ? { outcome: deleted ? 'deleted' : 'refused', status: found.status as RunStatus } : null
    },
  }
}
