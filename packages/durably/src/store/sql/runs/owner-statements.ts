// The statements of owner writes; `apply` says in which order they go and why.
import { type RawBuilder, sql } from 'kysely'
import type { OwnerVerb } from '../../owner-write.ts'
import type { SqlContext } from '../context.ts'
import { isMine, target } from '../guards.ts'
import { type Param, type Statement, statement } from '../statement.ts'
import type { WriteValues } from './owner-values.ts'

type P = Param<WriteValues>
type Fragment = RawBuilder<unknown>

/** The statements of one kind of write. */
export interface WriteStatements {
  events: Statement<WriteValues>
  logs: Statement<WriteValues>
  update: Statement<WriteValues>
}

export interface OwnerStatements {
  of(verb: OwnerVerb): WriteStatements
  step: Statement<WriteValues>
  appliedBefore: Statement<WriteValues>
}

export function ownerStatements(context: SqlContext): OwnerStatements {
  const { db, tables: t } = context
  const renew = (p: P) => sql`lease_expires_at = ${p('leaseEnd')}, heartbeat_at = ${p('at')}`
  const letGo = sql`lease_owner = NULL, lease_expires_at = NULL, version = version + 1`
  const finish = (p: P) => sql`${letGo}, finished_at = ${p('now')}`
  /** A2. An event beyond the counter is one that this very write has just inserted. */
  const isTold = (p: P) =>
    sql`EXISTS (SELECT 1 FROM ${t.events} AS e WHERE e.run_id = r.id AND e.seq = r.last_event_sequence + ${p('eventCount')})`
  const failure = (p: P) => sql`error = ${p('error')}, failure = ${p('failure')}, reason = ${p('reason')}`
  const renewal = writeStatements(context, renew)
  const completedStep = writeStatements(context, (p) => sql`${renew(p)}, current_step_index = current_step_index + 1, recoveries = 0`, {
    /** A step completes once: a write that would record it again is refused as a whole. */
    events: (p) => sql`${isMine(p)}
      AND NOT EXISTS (SELECT 1 FROM ${t.steps} AS s WHERE s.run_id = r.id AND s.name = ${p('stepName')} AND s.status = 'completed')
      AND NOT EXISTS (SELECT 1 FROM ${t.steps} AS s WHERE s.id = ${p('stepId')})`,
    rest: (p) => sql`${isMine(p)} AND ${isTold(p)}`,
  })
  const endings = {
    complete: writeStatements(context, (p) => sql`status = ${target('complete')}, output = ${p('output')}, ${failure(p)}, ${finish(p)}`),
    fail: writeStatements(context, (p) => sql`status = ${target('fail')}, ${failure(p)}, ${finish(p)}`),
    release: writeStatements(context, () => sql`status = ${target('release')}, ${letGo}`),
    abandon: writeStatements(context, (p) => sql`status = ${target('abandon')}, ${finish(p)}`),
  }

  return {
    of(verb) {
      if (verb.type === 'heartbeat') return renewal
      if (verb.type === 'recordStep') return verb.step.status === 'completed' ? completedStep : renewal
      return endings[verb.type]
    },
    step: statement<WriteValues>(
      db,
      (
        p,
      ) => sql`INSERT INTO ${t.steps} (id, run_id, name, "index", status, output, error, failure, started_at, completed_at, lease_generation)
        SELECT ${p('stepId')}, r.id, ${p('stepName')}, ${p('stepIndex')}, ${p('stepStatus')}, ${p('stepOutput')}, ${p('stepError')}, ${p('stepFailure')},
          ${p('stepStartedAt')}, ${p('stepCompletedAt')}, r.lease_generation
        FROM ${t.runs} AS r
        WHERE ${isMine(p)} AND ${isTold(p)}
        ON CONFLICT DO NOTHING`,
    ),
    appliedBefore: statement<WriteValues>(
      db,
      (p) => sql`SELECT r.cancel_requested_at FROM ${t.runs} AS r
        WHERE r.id = ${p('runId')} AND r.lease_generation = ${p('generation')} AND (r.lease_owner IS NULL OR r.lease_owner = ${p('token')})
          AND r.lease_writes >= ${p('number')}
          AND (${p('stepId')} IS NULL OR EXISTS (SELECT 1 FROM ${t.steps} AS s WHERE s.id = ${p('stepId')} AND s.run_id = r.id))`,
    ),
  }
}

interface Guards {
  events(p: P): Fragment
  rest(p: P): Fragment
}

function writeStatements(
  { db, tables: t, syntax }: SqlContext,
  set: (p: P) => Fragment,
  guard: Guards = { events: isMine, rest: isMine },
): WriteStatements {
  return {
    events: statement<WriteValues>(
      db,
      (p) => sql`INSERT INTO ${t.events} (run_id, seq, event_type, payload, created_at)
        SELECT r.id, r.last_event_sequence + 1 + e.key, e.value ->> 0, e.value ->> 1, e.value ->> 2
        FROM ${t.runs} AS r CROSS JOIN ${syntax.elements(p('events'))} AS e WHERE ${guard.events(p)}`,
    ),
    logs: statement<WriteValues>(
      db,
      (p) => sql`INSERT INTO ${t.logs} (id, run_id, step_name, level, message, data, timestamp)
        SELECT e.value ->> 0, r.id, e.value ->> 2, e.value ->> 3, e.value ->> 4, e.value ->> 5, e.value ->> 6
        FROM ${t.runs} AS r CROSS JOIN ${syntax.elements(p('logs'))} AS e WHERE ${guard.rest(p)}
        ON CONFLICT DO NOTHING`,
    ),
    update: statement<WriteValues>(
      db,
      (p) => sql`UPDATE ${t.runs} AS r SET ${set(p)}, lease_writes = ${p('number')}, progress = coalesce(${p('progress')}, progress),
          last_event_sequence = last_event_sequence + ${p('eventCount')}, updated_at = ${p('at')}
        WHERE ${guard.rest(p)} RETURNING cancel_requested_at`,
    ),
  }
}
