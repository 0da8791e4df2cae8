// Owner writes as one statement: the guarded update of a run takes its lock, and the rest is selected from what it
// returned, so a refused write writes nothing and a takeover waits until the step is committed.
//   G1. A single write binds its values; several writes are the rows `w`, and each column of these is an array that is bound. Only the
//       columns that a statement reads are sent. Nothing else differs.
//   G2. Several runs are locked in the order of their ids, so that two groups cannot deadlock; so are the parents of runs that end.
import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import type { OwnerWrite } from '../../owner-write.ts'
import type { SqlDeps } from '../shared/deps.ts'
import { cancelOf, isActive } from '../shared/guards.ts'
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
  events: boolean
  logs: boolean
  parents: boolean
}

/** One write of a group. */
export interface GroupRow extends WriteValues {
  position: number
  move: OwnerMove
}

type GroupQuery = (rows: readonly GroupRow[], now: number) => CompiledQuery

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

  single(write: OwnerWrite, values: WriteValues): Statement<WriteValues> {
    const form = formOf([write], [values], this.#deps)
    return remembered(this.#single, form, () => singleStatement(this.#deps, form))
  }

  group(writes: readonly OwnerWrite[], values: readonly WriteValues[]): GroupQuery {
    const form = formOf(writes, values, this.#deps)
    return remembered(this.#group, form, () => groupQuery(this.#deps, (w) => groupedWrites(this.#deps, form, w)))
  }
}

/** For `transact`: the write as one statement. */
export function ownerQueries(deps: SqlDeps): OwnerQueries {
  const statements = new OwnerStatements(deps)
  return (write, values) => [statements.single(write, values)(values)]
}

function remembered<T>(statements: Map<string, T>, form: Form, compile: () => T): T {
  const key = JSON.stringify(form)
  const known = statements.get(key) ?? compile()
  statements.set(key, known)
  return known
}

function formOf(writes: readonly OwnerWrite[], values: readonly WriteValues[], { eventLog }: SqlDeps): Form {
  return {
    moves: [...new Set(writes.map(({ verb }) => moveOf(verb)))].sort(),
    steps: writes.some(({ verb }) => verb.type === 'recordStep'),
    streams: eventLog && writes.some(({ verb }) => verb.type === 'recordStep' && verb.endsStream),
    events: eventLog && values.some(({ eventCount }) => eventCount > 0),
    logs: values.some(({ logCount }) => logCount > 0),
    parents: writes.some(({ verb }, i) => endsRun(moveOf(verb)) && values[i]?.parentRunId !== null),
  }
}

function singleStatement(deps: SqlDeps, form: Form): Statement<WriteValues> {
  const { statement, tables: t, syntax } = deps
  return statement<WriteValues>((p) => {
    const [move = 'renew'] = form.moves
    const moved = sql`moved AS (
      UPDATE ${t.runs} AS r SET ${movedRun(move, t, p, syntax.now(p))} WHERE ${isAccepted(move, deps, p)} RETURNING ${returned(t, p)})`
    return sql`${syntax.clock(p)}, ${moved} ${rest(deps, form, p, sql`moved AS r`)} SELECT cancel_requested_at FROM moved`
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
  const arraysOf = (rows: readonly GroupRow[]) => columns.map((name) => [name, rows.map((row) => textOf(row[name]))] as const)
  return (rows, now) => grouped({ now, ...Object.fromEntries(arraysOf(rows)) })
}

/** The array of each column, and the time. */
type GroupValues = { now: number } & Record<string, Value>

function textOf(value: string | number | null): string | null {
  return value === null ? null : String(value)
}

function groupedWrites(deps: SqlDeps, form: Form, w: W): Fragment {
  const { tables: t, syntax } = deps
  const now = syntax.now(w)
  const movedBy = form.moves.map(
    (move) => sql`${sql.id(`moved_${move}`)} AS (
        UPDATE ${t.runs} AS r SET ${movedRun(move, t, w, now)} FROM w JOIN locked ON locked.id = ${w('runId')}
        WHERE ${w('move')} = ${sql.lit(move)} AND ${isAccepted(move, deps, w)} RETURNING ${w('position')}, ${returned(t, w)})`,
  )
  const isEnd = sql`${w('move')} IN (${sql.join(form.moves.filter(endsRun).map((move) => sql.lit(move)))})`
  const moved = form.moves.map((move) => sql`SELECT * FROM ${sql.id(`moved_${move}`)}`)
  return sql`, locked AS MATERIALIZED (SELECT r.id FROM ${t.runs} AS r WHERE r.id IN (
        SELECT ${w('runId')} FROM w ${form.parents ? sql`UNION ALL SELECT ${w('parentRunId')} FROM w WHERE ${isEnd}` : sql``}) ORDER BY r.id FOR NO KEY UPDATE),
      ${sql.join(movedBy)}, moved AS (${sql.join(moved, sql` UNION ALL `)})
      ${rest(deps, form, w, sql`moved AS r JOIN w ON ${w('position')} = r.position`, isEnd)} SELECT position, cancel_requested_at FROM moved`
}

function returned(t: SqlDeps['tables'], p: P): Fragment {
  return sql`r.id, r.lease_generation, r.last_event_sequence - ${p('eventCount')} AS seq_before, ${cancelOf(t)} AS cancel_requested_at`
}

/** What is written beside the runs, out of the accepted ones `r`. */
function rest({ tables: t, into, syntax }: SqlDeps, form: Form, p: P, accepted: Fragment, isEnd: Fragment = sql`true`): Fragment {
  const parts: Fragment[] = []
  if (form.steps) {
    parts.push(sql`step AS (INSERT INTO ${into.steps}
      SELECT ${p('stepId')}, r.id, ${p('stepName')}, ${p('stepIndex')}::integer, ${p('stepStatus')}, ${p('stepOutput')}, ${p('stepError')},
        ${p('stepFailure')}, ${p('stepStartedAt')}, ${p('stepCompletedAt')}, r.lease_generation FROM ${accepted}
      WHERE ${p('stepId')}::text IS NOT NULL ON CONFLICT (id) DO NOTHING)`)
  }
  if (form.streams) {
    parts.push(sql`forgotten AS (DELETE FROM ${t.events} AS e USING (
        SELECT r.id, r.seq_before, ${p('stepName')}::text AS stream FROM ${accepted} WHERE ${p('endsStream')}::integer = 1) AS r
      WHERE e.run_id = r.id AND e.seq <= r.seq_before AND e.event_type IN (${STREAM_EVENTS}) AND ${syntax.member(sql`e.payload`, 'stepName')} = r.stream)`)
  }
  if (form.events) {
    parts.push(sql`events AS (INSERT INTO ${into.events}
      SELECT r.id, r.seq_before + 1 + e.key, e.value ->> 0, e.value ->> 1, e.value ->> 2 FROM ${accepted} CROSS JOIN ${syntax.elements(p('events'))} AS e)`)
  }
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
  events: 'text',
  eventCount: 'integer',
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
