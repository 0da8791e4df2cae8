// The register of workers: one row each. The guard is in the statement that writes, and the read after it sees what became of it.
import { sql } from 'kysely'
import { WORKER_STATES, type WorkerEntry, type WorkerRow, type WorkerStore } from '../../cluster/workers.ts'
import { recorded } from './audit.ts'
import { isOver, RUNNING_INDEX } from './guards.ts'
import type { LazyDeps } from './lazy-deps.ts'
import type { Row } from './session.ts'

type EntryValues = WorkerEntry & { now: number }

export function sqlWorkers(deps: LazyDeps): WorkerStore {
  const { statement, session, env, tables: t, syntax, reader } = deps
  const enter = statement<EntryValues>((p) => {
    const now = syntax.now(p)
    const isSame = sql`w.token = excluded.token`
    return sql`${syntax.clock(p)} INSERT INTO ${t.workers} AS w
        (id, token, labels, capacity, job_names, version, state, attached_at, heartbeat_at, expires_at)
      VALUES (${p('id')}, ${p('token')}, ${p('labels')}, ${p('capacity')}, ${p('jobNames')}, ${p('version')}, 'attached', ${now}, ${now}, ${now} + ${p('lastsMs')})
      ON CONFLICT (id) DO UPDATE SET token = excluded.token, labels = excluded.labels, capacity = excluded.capacity, job_names = excluded.job_names,
        version = excluded.version, heartbeat_at = excluded.heartbeat_at, expires_at = excluded.expires_at,
        state = CASE WHEN ${isSame} THEN w.state ELSE excluded.state END,
        attached_at = CASE WHEN ${isSame} THEN w.attached_at ELSE excluded.attached_at END
      WHERE ${isSame} OR w.state = 'detached' OR ${isOver(sql`w.expires_at`, now)}`
  })
  const stateOf = statement<Pick<WorkerEntry, 'id' | 'token'>>(
    (p) => sql`SELECT state FROM ${t.workers} WHERE id = ${p('id')} AND token = ${p('token')}`,
  )
  const remove = statement<Pick<WorkerEntry, 'id' | 'token'>>(
    (p) => sql`DELETE FROM ${t.workers} WHERE id = ${p('id')} AND token = ${p('token')}`,
  )
  const change = statement<{ id: string; state: string }>(
    (p) => sql`UPDATE ${t.workers} SET state = ${p('state')} WHERE id = ${p('id')} RETURNING id`,
  )
  /** What is recorded is a change, so the state must be another one. */
  const changeRecorded = recorded<{ id: string; state: string; now: number }>(
    deps,
    (p) => sql`UPDATE ${t.workers} SET state = ${p('state')} WHERE id = ${p('id')} AND state <> ${p('state')} RETURNING id`,
  )
  const known = statement<{ id: string }>((p) => sql`SELECT id FROM ${t.workers} WHERE id = ${p('id')}`)
  const list = statement<{ now: number }>((p) => {
    // No index has the running runs of a worker, so they are read once for all workers.
    const busy = sql`SELECT r.worker_id, count(*) AS running FROM ${t.runs} AS r ${syntax.by(t.index(RUNNING_INDEX))} WHERE r.status = 'running' GROUP BY r.worker_id`
    return sql`${syntax.clock(p)} SELECT w.*, w.expires_at - ${syntax.now(p)} AS expires_in,
      (SELECT count(*) FROM ${t.runs} AS r WHERE r.status = 'pending' AND r.assigned_worker_id = w.id) AS assigned, coalesce(busy.running, 0) AS running
      FROM ${t.workers} AS w LEFT JOIN (${busy}) AS busy ON busy.worker_id = w.id ORDER BY w.id`
  })

  function workerRow(row: Row): WorkerRow {
    const read = reader('worker', row.id, row)
    return {
      id: read.text('id'),
      labels: read.text('labels'),
      capacity: read.integer('capacity'),
      jobNames: read.text('job_names'),
      version: read.textOrNull('version'),
      state: read.oneOf('state', WORKER_STATES),
      attachedAt: read.integer('attached_at'),
      heartbeatAt: read.integer('heartbeat_at'),
      expiresInMs: read.integer('expires_in'),
      assigned: read.integer('assigned'),
      running: read.integer('running'),
    }
  }

  return {
    async attend(worker) {
      const [, [row] = []] = await session.write([enter({ ...worker, now: env.wall() }), stateOf(worker)])
      return row ? reader('worker', worker.id, row).oneOf('state', WORKER_STATES) : null
    },
    async leave(worker) {
      await session.write([remove(worker)])
    },
    async switchWorker(id, state, options) {
      const values = { id, state, now: env.wall() }
      const answers = await session.write(options?.audit ? [...changeRecorded(values, options), known(values)] : [change(values)])
      return answers.at(-1)?.[0] !== undefined
    },
    workers: async () => (await session.read(list({ now: env.wall() }))).map(workerRow),
  }
}
