// The statements of owner writes where one statement changes one table; `apply` says in which order they go and why.
import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import type { OwnerWrite } from '../../owner-write.ts'
import type { SqlContext } from '../context.ts'
import { isMine } from '../guards.ts'
import { type Param, type Statement, statement } from '../statement.ts'
import { EVENT_COLUMNS, isWelcome, LOG_COLUMNS, movedRun, moveOf, type OwnerMove, STEP_COLUMNS } from './owner-moves.ts'
import type { WriteValues } from './owner-values.ts'

type P = Param<WriteValues>
type Fragment = RawBuilder<unknown>

/** The statements of one kind of write. */
interface WriteStatements {
  events: Statement<WriteValues>
  logs: Statement<WriteValues>
  update: Statement<WriteValues>
}

/** The statements of a write; the last one is the update of its run. */
export type QueriesOf = (write: OwnerWrite, values: WriteValues) => CompiledQuery[]

export function ownerStatements(context: SqlContext): QueriesOf {
  const { db, tables: t } = context
  /** A2. An event beyond the counter is one that this very write has just inserted. */
  const isTold = (p: P) =>
    sql`EXISTS (SELECT 1 FROM ${t.events} AS e WHERE e.run_id = r.id AND e.seq = r.last_event_sequence + ${p('eventCount')})`
  const isOnItsWay = (p: P) => sql`${isMine(p)} AND ${isTold(p)}`
  const of: Record<OwnerMove, WriteStatements> = {
    renew: writeStatements(context, 'renew', isMine),
    completeStep: writeStatements(context, 'completeStep', isOnItsWay),
    complete: writeStatements(context, 'complete', isMine),
    fail: writeStatements(context, 'fail', isMine),
    release: writeStatements(context, 'release', isMine),
    abandon: writeStatements(context, 'abandon', isMine),
  }
  const step = statement<WriteValues>(
    db,
    (p) => sql`INSERT INTO ${t.steps} (${STEP_COLUMNS})
        SELECT ${p('stepId')}, r.id, ${p('stepName')}, ${p('stepIndex')}, ${p('stepStatus')}, ${p('stepOutput')}, ${p('stepError')}, ${p('stepFailure')},
          ${p('stepStartedAt')}, ${p('stepCompletedAt')}, r.lease_generation
        FROM ${t.runs} AS r
        WHERE ${isOnItsWay(p)}
        ON CONFLICT DO NOTHING`,
  )

  return ({ verb }, values) => {
    const { events, logs, update } = of[moveOf(verb)]
    const queries: CompiledQuery[] = []
    if (values.eventCount > 0) queries.push(events(values))
    if (values.logCount > 0) queries.push(logs(values))
    if (verb.type === 'recordStep') queries.push(step(values))
    queries.push(update(values))
    return queries
  }
}

/** `rest`: the guard of what comes after the events. */
function writeStatements(context: SqlContext, move: OwnerMove, rest: (p: P) => Fragment): WriteStatements {
  const { db, tables: t, syntax } = context
  return {
    events: statement<WriteValues>(
      db,
      (p) => sql`INSERT INTO ${t.events} (${EVENT_COLUMNS})
        SELECT r.id, r.last_event_sequence + 1 + e.key, e.value ->> 0, e.value ->> 1, e.value ->> 2
        FROM ${t.runs} AS r CROSS JOIN ${syntax.elements(p('events'))} AS e WHERE ${isWelcome(move, context, p)}`,
    ),
    logs: statement<WriteValues>(
      db,
      (p) => sql`INSERT INTO ${t.logs} (${LOG_COLUMNS})
        SELECT e.value ->> 0, r.id, e.value ->> 2, e.value ->> 3, e.value ->> 4, e.value ->> 5, e.value ->> 6
        FROM ${t.runs} AS r CROSS JOIN ${syntax.elements(p('logs'))} AS e WHERE ${rest(p)}
        ON CONFLICT DO NOTHING`,
    ),
    update: statement<WriteValues>(
      db,
      (p) => sql`UPDATE ${t.runs} AS r SET ${movedRun(move, p, p('now'))}
        WHERE ${rest(p)} RETURNING cancel_requested_at`,
    ),
  }
}
