// Creates runs with any options, of which some may be there already: by their idempotency key, by the step of their parent, or because this was
// sent before and the answer was lost.
// Rows go in as one array per column, so that no JSON is made of a payload; 1,000 runs are one statement.
import { type RawBuilder, sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import { notStored } from '../../not-stored.ts'
import type { Created, NewRun, RunStore } from '../../runs.ts'
import type { SqlDeps } from '../shared/deps.ts'
import { canMove } from '../shared/guards.ts'
import { chunkedRuns } from '../shared/json-rows.ts'
import { runRow } from '../shared/rows.ts'
import type { Row } from '../shared/session.ts'
import type { Param } from '../shared/statement.ts'

interface Columns {
  ids: string[]
  jobs: string[]
  payloads: (string | null)[]
  idempotencyKeys: (string | null)[]
  concurrencyKeys: (string | null)[]
  createdAts: string[]
  delays: (string | null)[]
  runAts: (string | null)[]
  deadlines: (string | null)[]
  timeLimits: (string | null)[]
  parents: (string | null)[]
  parentSteps: (string | null)[]
  parentTokens: (string | null)[]
  labels: (string | null)[]
  unchecked: (string | null)[]
  holdKeys: (string | null)[]
  preferred: (string | null)[]
}
type CreateValues = Columns & { now: number; at: string }

/** How often to look for a run that was neither stored nor found, because it was deleted at this moment. */
const LOOKS_MAX = 3

export function createUnlessKnown({ statement, session, env, tables: t, into, syntax, eventLog }: SqlDeps): RunStore['create'] {
  const given = (p: Param<CreateValues>) => sql`given AS MATERIALIZED (
    SELECT * FROM unnest(${p('ids')}::text[], ${p('jobs')}::text[], ${p('payloads')}::text[], ${p('idempotencyKeys')}::text[],
      ${p('concurrencyKeys')}::text[], ${p('createdAts')}::text[], ${p('delays')}::bigint[], ${p('runAts')}::bigint[], ${p('deadlines')}::bigint[], ${p('timeLimits')}::bigint[], ${p('parents')}::text[], ${p('parentSteps')}::text[], ${p('parentTokens')}::text[], ${p('labels')}::text[], ${p('unchecked')}::integer[], ${p('holdKeys')}::integer[], ${p('preferred')}::text[]) WITH ORDINALITY
      AS g(id, job_name, payload, idempotency_key, concurrency_key, created_at, delay, run_at, deadline_at, time_limit, parent_run_id, parent_step, parent_token, labels, unchecked, hold_key, prefer_worker_id, position))`
  /** The parents of new children, locked so that no reaper takes one back meanwhile. The order of their ids avoids deadlocks. */
  const held = sql`held AS MATERIALIZED (
    SELECT r.id, r.lease_owner FROM ${t.runs} AS r WHERE r.id IN (SELECT parent_run_id FROM given WHERE parent_token IS NOT NULL) AND ${canMove('complete')}
    ORDER BY r.id FOR SHARE)`
  /** The runs that were there when the statement began (PG1). */
  const knownOf = (
    asked: RawBuilder<unknown>,
  ) => sql`SELECT g.position, r.*${syntax.readAt} FROM ${asked} AS g JOIN ${t.runs} AS r ON r.id = coalesce(
      (SELECT same.id FROM ${t.runs} AS same WHERE same.id = g.id),
      (SELECT child.id FROM ${t.runs} AS child WHERE child.parent_run_id = g.parent_run_id AND child.parent_step = g.parent_step),
      (SELECT known.id FROM ${t.runs} AS known WHERE known.job_name = g.job_name AND known.idempotency_key = g.idempotency_key))`
  /**
   * A plan that was made while the table was small reads all of it to find a run. It is kept while the table grows, so a new run must not
   * be looked for.
   */
  const notCreated = sql`(SELECT * FROM given WHERE NOT EXISTS (SELECT 1 FROM created WHERE created.id = given.id))`
  const events = (p: Param<CreateValues>) =>
    sql`, events AS (INSERT INTO ${into.events} SELECT id, 1, 'run:trigger', '{}', ${p('at')} FROM created)`
  const labels = sql`, labels AS (INSERT INTO ${t.labels} SELECT label.key, label.value, created.id FROM created, json_each_text(created.labels::json) AS label)`
  /**
   * A known id, step or key is left alone: a batch that is sent again, or a second trigger of the same thing. In the order of
   * steps and keys, so that two batches with the same ones wait for each other instead of meeting in a deadlock.
   */
  const insertWith = (labels: RawBuilder<unknown>) =>
    statement<CreateValues>(
      (p) => sql`${syntax.clock(p)}, ${given(p)}, ${held},
      created AS (
        INSERT INTO ${t.runs} (id, job_name, payload, idempotency_key, concurrency_key, created_at, heartbeat_at, updated_at, status, run_at, deadline_at, parent_run_id, parent_step, labels, unchecked, hold_key, prefer_worker_id, last_event_sequence)
        SELECT id, job_name, payload, idempotency_key, concurrency_key, created_at, created_at, created_at, 'pending', least(due, greatest(coalesce(deadline, due), ${syntax.now(p)})), deadline, parent_run_id, parent_step, labels, unchecked, hold_key, prefer_worker_id, 1
        FROM (SELECT given.*, coalesce(run_at, ${syntax.now(p)} + coalesce(delay, 0)) AS due, coalesce(deadline_at, ${syntax.now(p)} + time_limit) AS deadline FROM given) AS given
        WHERE parent_token IS NULL OR EXISTS (SELECT 1 FROM held WHERE held.id = given.parent_run_id AND held.lease_owner = given.parent_token)
        ORDER BY CASE WHEN parent_step IS NOT NULL THEN parent_run_id END, parent_step, CASE WHEN parent_step IS NULL THEN job_name END, idempotency_key, position
        ON CONFLICT DO NOTHING RETURNING *)
      ${eventLog ? events(p) : sql``}${labels}
      SELECT NULL::bigint AS position, r.*${syntax.readAt} FROM created AS r UNION ALL ${knownOf(notCreated)}`,
    )
  const insert = insertWith(sql``)
  const insertLabelled = insertWith(labels)
  const look = statement<CreateValues>((p) => sql`WITH ${given(p)} ${knownOf(sql`given`)}`)

  return async (runs, { within } = {}) => {
    const now = env.wall()
    const valuesOf = (some: readonly NewRun[]) => ({ ...columnsOf(some), now, at: iso(now) })
    const found = new Found(runs)
    const chunks = chunkedRuns(runs)
    const queries = chunks.map((chunk) => (chunk.some((run) => run.labels !== null) ? insertLabelled : insert)(valuesOf(chunk)))
    const results = within ? await session.writeWithin(within, queries) : await session.write(queries)
    chunks.forEach((chunk, i) => {
      found.add(chunk, results[i] ?? [])
    })
    // Someone else has just stored these keys, too late for the statement to see them.
    for (let looks = 1; found.missing().length > 0 && looks <= LOOKS_MAX; looks++) {
      for (const chunk of chunkedRuns(found.missing())) {
        const query = look(valuesOf(chunk.map((run) => ({ ...run, payload: null }))))
        const [rows = []] = within ? await session.writeWithin(within, [query]) : [await session.read(query)]
        found.add(chunk, rows)
      }
    }
    return found.answers()
  }
}

function columnsOf(runs: readonly NewRun[]): Columns {
  return {
    ids: runs.map((run) => run.id),
    jobs: runs.map((run) => run.jobName),
    payloads: runs.map((run) => run.payload),
    idempotencyKeys: runs.map((run) => run.idempotencyKey),
    concurrencyKeys: runs.map((run) => run.concurrencyKey),
    createdAts: runs.map((run) => run.createdAt),
    delays: runs.map((run) => textOrNull(run.delayMs)),
    runAts: runs.map((run) => textOrNull(run.runAt)),
    deadlines: runs.map((run) => textOrNull(run.deadlineAt)),
    timeLimits: runs.map((run) => textOrNull(run.deadlineMs)),
    parents: runs.map((run) => run.parentRunId),
    parentSteps: runs.map((run) => run.parentStep),
    parentTokens: runs.map((run) => run.parentToken),
    labels: runs.map((run) => run.labels),
    unchecked: runs.map((run) => (run.unchecked ? '1' : null)),
    holdKeys: runs.map((run) => (run.holdKey ? '1' : null)),
    preferred: runs.map((run) => run.preferWorkerId ?? null),
  }
}

function textOrNull(ms: number | null): string | null {
  return ms === null ? null : String(ms)
}

/** Finds for each requested run the one that is stored. */
class Found {
  readonly #runs: readonly NewRun[]
  readonly #byId: ReadonlyMap<unknown, NewRun>
  readonly #rows = new Map<NewRun, Row>()
  readonly #byKey = new Map<string, Row>()

  constructor(runs: readonly NewRun[]) {
    this.#runs = runs
    this.#byId = new Map(runs.map((run) => [run.id, run]))
  }

  /** A new run has its own id; a known one has the position of the request for it. */
  add(asked: readonly NewRun[], rows: readonly Row[]): void {
    for (const row of rows) {
      const run = row.position === null ? this.#byId.get(row.id) : asked[Number(row.position) - 1]
      if (!run) continue
      this.#rows.set(run, row)
      for (const key of keysOf(run)) this.#byKey.set(key, row)
    }
  }

  /** If a key is twice in a batch, the second request gets the run of the first. */
  #rowOf(run: NewRun): Row | undefined {
    const own = this.#rows.get(run)
    if (own) return own
    const known = keysOf(run).find((key) => this.#byKey.has(key))
    return known === undefined ? undefined : this.#byKey.get(known)
  }

  missing(): NewRun[] {
    return this.#runs.filter((run) => !this.#rowOf(run))
  }

  answers(): Created[] {
    return this.#runs.map((given) => {
      const row = this.#rowOf(given)
      if (!row) throw notStored(given)
      const run = runRow(row)
      return { run, created: run.id === given.id }
    })
  }
}

/** A run is known by its parent's step, then by its idempotency key. */
function keysOf({ jobName, idempotencyKey, parentRunId, parentStep }: NewRun): string[] {
  const keys: string[] = []
  if (parentStep !== null) keys.push(JSON.stringify(['step', parentRunId, parentStep]))
  if (idempotencyKey !== null) keys.push(JSON.stringify(['key', jobName, idempotencyKey]))
  return keys
}
