// An owner write as one statement: the guarded update of the run takes its lock, and the rest is selected from what it
// returned, so a refused write writes nothing and a takeover waits until the step is committed.
import { type RawBuilder, sql } from 'kysely'
import type { OwnerWrite } from '../../../owner-write.ts'
import type { SqlContext } from '../../context.ts'
import { EVENT_COLUMNS, isWelcome, LOG_COLUMNS, movedRun, moveOf, type OwnerMove, STEP_COLUMNS } from '../../runs/owner-moves.ts'
import type { QueriesOf } from '../../runs/owner-statements.ts'
import type { WriteValues } from '../../runs/owner-values.ts'
import { type Param, type Statement, statement } from '../../statement.ts'

type P = Param<WriteValues>
type Fragment = RawBuilder<unknown>

/** What a write consists of; each form is compiled at its first use. */
interface Form {
  move: OwnerMove
  step: boolean
  events: boolean
  logs: boolean
}

export function ownerStatement(context: SqlContext): QueriesOf {
  const compiled = new Map<string, Statement<WriteValues>>()
  return (write, values) => {
    const form = formOf(write, values)
    const key = JSON.stringify(form)
    let statement = compiled.get(key)
    if (!statement) {
      statement = compile(context, form)
      compiled.set(key, statement)
    }
    return [statement(values)]
  }
}

function formOf({ verb }: OwnerWrite, { eventCount, logCount }: WriteValues): Form {
  return { move: moveOf(verb), step: verb.type === 'recordStep', events: eventCount > 0, logs: logCount > 0 }
}

function compile(context: SqlContext, { move, step, events, logs }: Form): Statement<WriteValues> {
  const { db, tables: t, syntax } = context
  return statement<WriteValues>(db, (p) => {
    const parts: Fragment[] = [
      sql`${syntax.clock(p)}, moved AS (
        UPDATE ${t.runs} AS r SET ${movedRun(move, p, syntax.now(p))} WHERE ${isWelcome(move, context, p)}
        RETURNING r.id, r.lease_generation, r.last_event_sequence - ${p('eventCount')} AS told, r.cancel_requested_at)`,
    ]
    if (step) parts.push(sql`step AS (INSERT INTO ${t.steps} (${STEP_COLUMNS}) ${stepRow(p)} ON CONFLICT (id) DO NOTHING)`)
    if (events) {
      parts.push(sql`events AS (INSERT INTO ${t.events} (${EVENT_COLUMNS})
        SELECT r.id, r.told + 1 + e.key, e.value ->> 0, e.value ->> 1, e.value ->> 2 FROM moved AS r CROSS JOIN ${syntax.elements(p('events'))} AS e)`)
    }
    if (logs) {
      parts.push(sql`logs AS (INSERT INTO ${t.logs} (${LOG_COLUMNS})
        SELECT e.value ->> 0, r.id, e.value ->> 2, e.value ->> 3, e.value ->> 4, e.value ->> 5, e.value ->> 6
        FROM moved AS r CROSS JOIN ${syntax.elements(p('logs'))} AS e ORDER BY e.key ON CONFLICT DO NOTHING)`)
    }
    return sql`${sql.join(parts, sql`, `)} SELECT cancel_requested_at FROM moved`
  })
}

function stepRow(p: P): Fragment {
  return sql`SELECT ${p('stepId')}, r.id, ${p('stepName')}, ${p('stepIndex')}::integer, ${p('stepStatus')}, ${p('stepOutput')}, ${p('stepError')},
    ${p('stepFailure')}, ${p('stepStartedAt')}, ${p('stepCompletedAt')}, r.lease_generation FROM moved AS r`
}
