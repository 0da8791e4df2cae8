// PendingRuns — the runs that no worker executes, a few of each job, read once for all checks.
//   R1. Only by `runs_pick` and by the primary key, and of each job so many at most: a million runs make it no slower.
import type { WaitingFor } from '@coji/durably'
import { type RawBuilder, sql } from 'kysely'
import { pendingJobNames, type Source } from '../job-names.ts'
import { by, tableNames } from '../table-names.ts'
import { kindsOf, type WaitColumns } from './wait-kinds.ts'

const JOBS_MAX = 100
/** Of one job. */
export const RUNS_MAX = 500
/** When a run is due that no clock wakes. */
const NEVER_MS = Date.parse('9999-12-31T00:00:00.000Z')

interface PendingRun {
  id: string
  jobName: string
  /** Since when it is due, or waits. */
  sinceMs: number
}

export interface DueRun extends PendingRun {
  concurrencyKey: string | null
  /** The run that has its key; null if it waits for none. */
  holderId: string | null
}

export interface WaitingRun extends PendingRun {
  /** What it waits for: what no clock ends comes first. */
  kinds: WaitingFor['kind'][]
}

interface Columns {
  id: string
  job_name: string
  run_at: number | string
  updated_at: string
}

export class PendingRuns {
  readonly #source: Source
  readonly #nowMs: number
  #names: Promise<string[]> | undefined
  #waiting: Promise<WaitingRun[]> | undefined

  constructor(source: Source, nowMs: number) {
    this.#source = source
    this.#nowMs = nowMs
  }

  /** The oldest of each job, due for so long. After a retry a run is due since then, however old it is. */
  async due(forMs: number): Promise<DueRun[]> {
    const { durably, place } = this.#source
    const lastMs = this.#nowMs - forMs
    const pages = await this.#pages(sql`r.concurrency_key`, [sql`r.run_at <= ${lastMs}`])
    if (!pages) return []
    // In the words of the index `runs_running_key`: a key is in use while a run executes, or was claimed and holds it.
    const { rows } = await sql<Columns & { concurrency_key: string | null; holder_id: string | null }>`SELECT due.*, (
        SELECT k.id FROM ${tableNames(place)('runs')} AS k ${by(place, 'runs_running_key')} WHERE k.concurrency_key = due.concurrency_key AND k.id <> due.id
          AND (k.status = 'running' OR k.status = 'pending' AND k.hold_key = 1 AND k.lease_generation > k.retry_generation)
          AND k.concurrency_key IS NOT NULL) AS holder_id
      FROM (${pages}) AS due`.execute(durably.db)
    return rows
      .map((row) => ({ ...ofColumns(row), concurrencyKey: row.concurrency_key, holderId: row.holder_id }))
      .filter(({ sinceMs }) => sinceMs <= lastMs)
      .sort((a, b) => a.sinceMs - b.sinceMs)
  }

  /** Those that wait for something else than a worker, the longest first; of each job those that no clock wakes, and others. */
  waiting(): Promise<WaitingRun[]> {
    this.#waiting ??= this.#readWaiting()
    return this.#waiting
  }

  async #readWaiting(): Promise<WaitingRun[]> {
    const columns = sql`r.attempts, r.deadline_at, r.waiting_for, r.effects`
    const pages = await this.#pages(columns, [sql`r.run_at > ${this.#nowMs} AND r.run_at < ${NEVER_MS}`, sql`r.run_at >= ${NEVER_MS}`])
    if (!pages) return []
    const { rows } = await sql<Columns & WaitColumns>`${pages}`.execute(this.#source.durably.db)
    return rows
      .map((row) => ({ ...ofColumns(row), sinceMs: Date.parse(row.updated_at), kinds: kindsOf(row) }))
      .sort((a, b) => a.sinceMs - b.sinceMs)
  }

  /** Pages of the pending runs of each job, one for each range; null if no job has any. */
  async #pages(columns: RawBuilder<unknown>, ranges: readonly RawBuilder<unknown>[]): Promise<RawBuilder<unknown> | null> {
    const { place } = this.#source
    this.#names ??= pendingJobNames(this.#source, JOBS_MAX)
    const names = await this.#names
    const runs = sql`${tableNames(place)('runs')} AS r ${by(place, 'runs_pick')}`
    const pages = names.flatMap((name) =>
      ranges.map(
        (range) => sql`SELECT * FROM (SELECT r.id, r.job_name, r.run_at, r.updated_at, ${columns} FROM ${runs}
          WHERE r.status = 'pending' AND r.job_name = ${name} AND ${range} ORDER BY r.run_at, r.id LIMIT ${sql.lit(RUNS_MAX)}) AS page`,
      ),
    )
    return pages.length === 0 ? null : sql.join(pages, sql` UNION ALL `)
  }
}

function ofColumns({ id, job_name, run_at, updated_at }: Columns): PendingRun {
  return { id, jobName: job_name, sinceMs: Math.max(Number(run_at), Date.parse(updated_at)) }
}
