// The statements of owner writes, each of which changes one table. Their order, and the reasons for it, are in apply.ts.
import { sql } from 'kysely'
import type { SqlDeps } from '../shared/deps.ts'
import { isActive } from '../shared/guards.ts'
import { awokenParent, endsRun, isAccepted, movedRun, moveOf, type OwnerMove, STEP_EVENTS, STREAM_EVENTS } from '../shared/owner-moves.ts'
import type { OwnerQueries, WriteAnswer, WriteValues } from '../shared/owner-values.ts'
import type { Statement } from '../shared/statement.ts'

/** A1: the statement before this one wrote something. */
const previousWrote = sql`changes() > 0`

/** `answer`: the end of the update. Without it a later statement of the batch reads what was accepted (A4). */
export function ownerQueries(deps: SqlDeps, answer: WriteAnswer = () => sql``): OwnerQueries {
  const { statement, tables: t, into, syntax, eventLog } = deps
  const update = (move: OwnerMove): Statement<WriteValues> =>
    statement<WriteValues>(
      (p) => sql`UPDATE ${t.runs} AS r SET ${movedRun(move, t, p, p('now'))} WHERE ${isAccepted(move, deps, p)} ${answer(p)}`,
    )
  /** The update for each kind of write, compiled when it is first used. */
  const updates: { [move in OwnerMove]?: Statement<WriteValues> } = {}
  const updateFor = (move: OwnerMove) => (updates[move] ??= update(move))
  const step = statement<WriteValues>(
    (p) => sql`INSERT INTO ${into.steps}
        SELECT ${p('stepId')}, ${p('runId')}, ${p('stepName')}, ${p('stepIndex')}, ${p('stepStatus')}, ${p('stepOutput')}, ${p('stepError')}, ${p('stepFailure')},
          ${p('stepStartedAt')}, ${p('stepCompletedAt')}, ${p('generation')}
        WHERE ${previousWrote}
        ON CONFLICT DO NOTHING`,
  )
  /** A2. Deleting 0 rows would make changes() look like a refusal, so it finds the events by the step's own event. */
  const forgetStream = statement<WriteValues>(
    (
      p,
    ) => sql`DELETE FROM ${t.events} WHERE run_id = ${p('runId')} AND event_type IN (${STREAM_EVENTS}) AND ${syntax.member(sql`payload`, 'stepName')} = ${p('stepName')}
        AND seq <= (SELECT own.seq - ${p('eventCount')} FROM ${t.events} AS own
          WHERE own.run_id = ${p('runId')} AND own.event_type IN (${STEP_EVENTS}) AND ${syntax.member(sql`own.payload`, 'stepId')} = ${p('stepId')})`,
  )
  /** Two events, or only the second one, as most writes have. Without JSON that takes half the time. */
  const fewEvents = statement<WriteValues>(
    (p) => sql`INSERT INTO ${into.events}
        SELECT r.id, r.last_event_sequence + e.column1, e.column2, e.column3, e.column4
        FROM ${t.runs} AS r CROSS JOIN (VALUES (-1, ${p('firstType')}, ${p('firstPayload')}, ${p('firstAt')}), (0, ${p('lastType')}, ${p('lastPayload')}, ${p('lastAt')})) AS e
        WHERE r.id = ${p('runId')} AND ${previousWrote} AND e.column2 IS NOT NULL
        ON CONFLICT DO NOTHING`,
  )
  const events = statement<WriteValues>(
    (p) => sql`INSERT INTO ${into.events}
        SELECT r.id, r.last_event_sequence - ${p('eventCount')} + 1 + e.key, e.value ->> 0, e.value ->> 1, e.value ->> 2
        FROM ${t.runs} AS r CROSS JOIN ${syntax.elements(p('events'))} AS e WHERE r.id = ${p('runId')} AND ${previousWrote}
        ON CONFLICT DO NOTHING`,
  )
  const logs = statement<WriteValues>(
    (p) => sql`INSERT INTO ${into.logs}
        SELECT e.value ->> 0, ${p('runId')}, e.value ->> 2, e.value ->> 3, e.value ->> 4, e.value ->> 5, e.value ->> 6
        FROM ${syntax.elements(p('logs'))} AS e WHERE ${previousWrote}
        ON CONFLICT DO NOTHING`,
  )

  /** A1. It also writes the run that ended, unchanged, so that changes() is not 0 for the next statement when the parent is not active. */
  const parent = statement<WriteValues>(
    (p) => sql`UPDATE ${t.runs} AS r SET ${awokenParent(p('now'), sql`(r.id = ${p('parentRunId')})`)}
        WHERE (r.id = ${p('runId')} OR (r.id = ${p('parentRunId')} AND ${isActive()})) AND ${previousWrote}`,
  )

  return (write, values) => {
    const { verb } = write
    const queries = [updateFor(moveOf(verb))(values)]
    if (eventLog && values.eventCount > 0) queries.push((values.events === null ? fewEvents : events)(values))
    if (verb.type === 'recordStep') queries.push(step(values))
    if (endsRun(moveOf(verb)) && values.parentRunId !== null) queries.push(parent(values))
    if (values.logCount > 0) queries.push(logs(values))
    if (eventLog && verb.type === 'recordStep' && verb.endsStream) queries.push(forgetStream(values))
    return queries
  }
}
