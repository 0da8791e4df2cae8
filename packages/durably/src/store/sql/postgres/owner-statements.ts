// Owner writes as one statement: a run is locked under the guards of the write, and the rest is selected from what was locked, so a refused
// write writes nothing and a takeover waits until the step is committed.
//   G1. A single write binds its values, and the guarded update of its run takes the lock. Several writes are the rows `w`, and each column of
//       these is an array that is bound. Only the columns that a statement reads are sent.
//   G2. Several runs are locked in the order of their ids, so that two groups cannot deadlock; so are the parents of runs that end.
//   G3. Postgres keeps the plan of a group while the tables grow, so a group joins no table: it asks for one run after another (LATERAL), and
//       whether a step is completed already is found out by the unique indexes, as the step is inserted.
import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import type { OwnerWrite } from '../../owner-write.ts'
import type { SqlDeps } from '../shared/deps.ts'
import { cancelOf, isActive, isMine } from '../shared/guards.ts'
import { awokenParent, endsRun, isAccepted, movedRun, moveOf, type OwnerMove, STREAM_EVENTS, wasApplied } from '../shared/owner-moves.ts'
import type { OwnerQueries, WriteValues } from '../shared/owner-values.ts'
import type { Param, Statement, Value } from '../shared/statement.ts'

type P = Param<WriteValues>
type Fragment = RawBuilder<unknown>

/** Which parts the writes of a statement have. Each combination is compiled when it is first used. */
interface Form {
  moves: OwnerMove[]
  steps: boolean
  streams: boolean
  lastEvent: boolean
  firstEvent: boolean
  events: boolean
  logs: boolean
  parents: boolean
}

export interface PreparedWrite {
  write: OwnerWrite
  move: OwnerMove
  values: WriteValues
}

/** One write of a group, as a row. Its position is its place in the group. */
interface GroupRow extends WriteValues {
  position: number
  move: OwnerMove
}

type GroupQuery = (members: readonly PreparedWrite[], now: number) => CompiledQuery

export class OwnerStatements {
  readonly #deps: SqlDeps
  readonly #single = new Map<string, Statement<WriteValues>>()
  readonly #group = new Map<string, GroupQuery>()

  /** Finds out which of the writes that were not accepted had been applied before (W2). */
  readonly applied: GroupQuery

  constructor(deps: SqlDeps) {
    this.#deps = deps
    const { tables: t } = deps
    this.applied = groupQuery(
      deps,
      (w) => sql`SELECT ${w('position')}, ${cancelOf(t)} AS cancel_requested_at FROM w JOIN ${t.runs} AS r ON ${wasApplied(deps, w)}`,
    )
  }

  single(write: PreparedWrite): Statement<WriteValues> {
    const form = formOf([write], this.#deps)
    return remembered(this.#single, form, () => singleStatement(this.#deps, form))
  }

  group(members: readonly PreparedWrite[]): GroupQuery {
    const form = formOf(members, this.#deps)
    return remembered(this.#group, form, () => groupQuery(this.#deps, (w) => groupedWrites(this.#deps, form, w)))
  }
}

/** For `transact`: the write as one statement. */
export function ownerQueries(deps: SqlDeps): OwnerQueries {
  const statements = new OwnerStatements(deps)
  return (write, values) => [statements.single({ write, move: moveOf(write.verb), values })(values)]
}

function remembered<T>(statements: Map<string, T>, form: Form, compile: () => T): T {
  const key = JSON.stringify(form)
  const known = statements.get(key) ?? compile()
  statements.set(key, known)
  return known
}

function formOf(members: readonly PreparedWrite[], { eventLog }: SqlDeps): Form {
  return {
    moves: [...new Set(members.map(({ move }) => move))].sort(),
    steps: members.some(({ write }) => write.verb.type === 'recordStep'),
    streams: eventLog && members.some(({ write }) => write.verb.type === 'recordStep' && write.verb.endsStream),
    lastEvent: members.some(({ values }) => values.lastType !== null),
    firstEvent: members.some(({ values }) => values.firstType !== null),
    events: members.some(({ values }) => values.events !== null),
    logs: members.some(({ values }) => values.logCount > 0),
    parents: members.some(({ move, values }) => endsRun(move) && values.parentRunId !== null),
  }
}

function singleStatement(deps: SqlDeps, form: Form): Statement<WriteValues> {
  const { statement, tables: t, syntax } = deps
  return statement<WriteValues>((p) => {
    const [move = 'renew'] = form.moves
    const moved = sql`moved AS (
      UPDATE ${t.runs} AS r SET ${movedRun(move, t, p, syntax.now(p))} WHERE ${isAccepted(move, deps, p)} RETURNING ${returned(t, p)})`
    const step = form.steps ? sql`, step AS (${recordedStep(deps, p, sql`moved`)} ON CONFLICT (id) DO NOTHING)` : sql``
    return sql`${syntax.clock(p)}, ${moved} ${step} ${rest(deps, form, p, sql`moved AS r`)} SELECT cancel_requested_at FROM moved`
  })
}

/** A column of the rows `w`. */
type W = Param<GroupRow>

/** `build` is what follows the rows `w` in a WITH clause. The columns that it asks for are those that the rows have (G1). */
function groupQuery({ statement, syntax }: SqlDeps, build: (w: W) => Fragment): GroupQuery {
  const names = new Set<keyof GroupRow>()
  const body = build((name) => {
    names.add(name)
    return sql`w.${sql.id(name)}`
  })
  const columns = [...names]
  const grouped = statement<GroupValues>((p) => {
    const arrays = columns.map((name) => sql`${p(name)}::${sql.raw(TYPES[name])}[]`)
    return sql`${syntax.clock(p)}, w AS MATERIALIZED (SELECT * FROM unnest(${sql.join(arrays)}) AS w(${sql.join(columns.map((name) => sql.id(name)))})) ${body}`
  })
  return (members, now) => {
    const arrays: Record<string, Value> = {}
    for (const name of columns) arrays[name] = members.map((member, position) => textOf(columnOf(member, position, name)))
    return grouped({ ...arrays, now })
  }
}

function columnOf({ move, values }: PreparedWrite, position: number, name: keyof GroupRow): string | number | null {
  if (name === 'position') return position
  return name === 'move' ? move : values[name]
}

/** The array of each column, and the time. */
type GroupValues = { now: number } & Record<string, Value>

function textOf(value: string | number | null): string | null {
  return value === null ? null : String(value)
}

function groupedWrites(deps: SqlDeps, form: Form, w: W): Fragment {
  const { tables: t, syntax } = deps
  const handedOn = new Set<keyof GroupRow>(['position', 'move'])
  /** A column of an accepted write: the update of its run hands it on. */
  const r: W = (name) => {
    handedOn.add(name)
    return sql`r.${sql.id(name)}`
  }
  const others = rest(deps, form, r, sql`moved AS r`, endsAnyOf(form, r))
  const columns = sql.join([...handedOn].map(w))
  const movedBy = form.moves.map(
    (move) => sql`${sql.id(`moved_${move}`)} AS (
        UPDATE ${t.runs} AS r SET ${movedRun(move, t, w, syntax.now(w))} FROM locked AS w
        WHERE ${is(move, w)} AND NOT w.is_parent ${move === 'completeStep' ? isInserted(w) : sql``} AND r.id = ${w('runId')}
        RETURNING ${returned(t, w)}, ${columns})`,
  )
  const moved = form.moves.map((move) => sql`SELECT * FROM ${sql.id(`moved_${move}`)}`)
  const step = form.steps
    ? sql`step AS (${recordedStep(deps, w, sql`locked AS w`)} AND NOT w.is_parent ON CONFLICT DO NOTHING RETURNING run_id),`
    : sql``
  return sql`, ${lockedRuns(deps, form, w)}, ${step} ${sql.join(movedBy)}, moved AS (${sql.join(moved, sql` UNION ALL `)})
      ${others} SELECT position, cancel_requested_at FROM moved`
}

/** G2: the rows `w` whose runs may be changed, and those of the parents of runs that end. */
function lockedRuns(deps: SqlDeps, form: Form, w: W): Fragment {
  const accepted = form.moves.map((move) => sql`${is(move, w)} AND ${move === 'completeStep' ? isMine(w) : isAccepted(move, deps, w)}`)
  const parents = form.parents ? sql`UNION ALL SELECT ${w('parentRunId')}, true, w.* FROM w WHERE ${endsAnyOf(form, w)}` : sql``
  return sql`locked AS MATERIALIZED (
        SELECT w.* FROM (SELECT ${w('runId')} COLLATE "C" AS id, false AS is_parent, w.* FROM w ${parents} ORDER BY id) AS w
        CROSS JOIN LATERAL (
          SELECT FROM ${deps.tables.runs} AS r WHERE r.id = w.id AND (w.is_parent OR ${sql.join(accepted, sql` OR `)}) FOR NO KEY UPDATE) AS r)`
}

function is(move: OwnerMove, w: W): Fragment {
  return sql`${w('move')} = ${sql.lit(move)}`
}

function endsAnyOf(form: Form, w: W): Fragment {
  return sql`${w('move')} IN (${sql.join(form.moves.filter(endsRun).map((move) => sql.lit(move)))})`
}

/** G3. A group has one write of each run. */
function isInserted(w: W): Fragment {
  return sql`AND ${w('runId')} = ANY (ARRAY(SELECT run_id FROM step))`
}

function recordedStep({ into }: SqlDeps, p: P, accepted: Fragment): Fragment {
  return sql`INSERT INTO ${into.steps}
      SELECT ${p('stepId')}, ${p('runId')}, ${p('stepName')}, ${p('stepIndex')}::integer, ${p('stepStatus')}, ${p('stepOutput')}, ${p('stepError')},
        ${p('stepFailure')}, ${p('stepStartedAt')}, ${p('stepCompletedAt')}, ${p('generation')}::integer FROM ${accepted}
      WHERE ${p('stepId')}::text IS NOT NULL`
}

function returned(t: SqlDeps['tables'], p: P): Fragment {
  return sql`r.id, r.lease_generation, r.last_event_sequence - ${p('eventCount')} AS seq_before, ${cancelOf(t)} AS cancel_requested_at`
}

/** What is written beside the runs, out of the accepted ones `r`. */
function rest({ tables: t, into, syntax }: SqlDeps, form: Form, p: P, accepted: Fragment, isEnd: Fragment = sql`true`): Fragment {
  const parts: Fragment[] = []
  if (form.streams) {
    parts.push(sql`forgotten AS (DELETE FROM ${t.events} AS e USING (
        SELECT r.id, r.seq_before, ${p('stepName')}::text AS stream FROM ${accepted} WHERE ${p('endsStream')}::integer = 1) AS r
      WHERE e.run_id = r.id AND e.seq <= r.seq_before AND e.event_type IN (${STREAM_EVENTS}) AND ${syntax.member(sql`e.payload`, 'stepName')} = r.stream)`)
  }
  const events: Fragment[] = []
  if (form.lastEvent) {
    events.push(sql`SELECT r.id, r.seq_before + ${p('eventCount')}, ${p('lastType')}, ${p('lastPayload')}, ${p('lastAt')} FROM ${accepted}
      WHERE ${p('lastType')}::text IS NOT NULL`)
  }
  if (form.firstEvent) {
    events.push(sql`SELECT r.id, r.seq_before + 1, ${p('firstType')}, ${p('firstPayload')}, ${p('firstAt')} FROM ${accepted}
      WHERE ${p('firstType')}::text IS NOT NULL`)
  }
  if (form.events) {
    events.push(sql`SELECT r.id, r.seq_before + 1 + e.key, e.value ->> 0, e.value ->> 1, e.value ->> 2
      FROM ${accepted} CROSS JOIN ${syntax.elements(p('events'))} AS e`)
  }
  if (events.length > 0) parts.push(sql`events AS (INSERT INTO ${into.events} ${sql.join(events, sql` UNION ALL `)})`)
  if (form.logs) {
    parts.push(sql`logs AS (INSERT INTO ${into.logs}
      SELECT e.value ->> 0, r.id, e.value ->> 2, e.value ->> 3, e.value ->> 4, e.value ->> 5, e.value ->> 6
      FROM ${accepted} CROSS JOIN ${syntax.elements(p('logs'))} AS e ORDER BY r.id, e.key ON CONFLICT DO NOTHING)`)
  }
  if (form.parents) {
    parts.push(sql`parents AS (UPDATE ${t.runs} AS r SET ${awokenParent(sql`(SELECT now FROM clock)`, sql`ended.count`)}
      FROM (SELECT ${p('parentRunId')}::text AS id, count(*)::integer AS count FROM ${accepted} WHERE ${isEnd} GROUP BY 1) AS ended
      WHERE r.id = ended.id AND ${isActive()})`)
  }
  return parts.length === 0 ? sql`` : sql`, ${sql.join(parts)}`
}

const TYPES: { [name in keyof GroupRow]: 'text' | 'integer' | 'bigint' } = {
  position: 'integer',
  move: 'text',
  runId: 'text',
  generation: 'integer',
  token: 'text',
  number: 'integer',
  now: 'bigint',
  at: 'text',
  eventCount: 'integer',
  lastType: 'text',
  lastPayload: 'text',
  lastAt: 'text',
  firstType: 'text',
  firstPayload: 'text',
  firstAt: 'text',
  events: 'text',
  logs: 'text',
  logCount: 'integer',
  progress: 'text',
  streams: 'text',
  effects: 'text',
  leaseMs: 'bigint',
  parentRunId: 'text',
  leaderEpoch: 'bigint',
  runAt: 'bigint',
  waitingFor: 'text',
  signals: 'integer',
  output: 'text',
  error: 'text',
  failure: 'text',
  reason: 'text',
  stepId: 'text',
  stepName: 'text',
  stepIndex: 'integer',
  stepStatus: 'text',
  stepOutput: 'text',
  stepError: 'text',
  stepFailure: 'text',
  stepStartedAt: 'text',
  stepCompletedAt: 'text',
  endsStream: 'integer',
}
