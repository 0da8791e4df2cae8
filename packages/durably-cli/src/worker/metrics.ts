// Metrics — what this worker has done since it started, and what it sees of the queue, in the text format of Prometheus.
import type { Durably } from '@coji/durably'
import { type Sample, type Series, seriesText } from './prometheus.ts'

/** The upper ends of the buckets, in seconds. */
const BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1800, 7200]

/** The events that are counted, by job, and their names as metrics. */
const COUNTED = {
  'run:start': ['durably_run_starts_total', 'Claims that began or continued a run.'],
  'run:complete': ['durably_runs_completed_total', 'Runs that completed.'],
  'run:fail': ['durably_runs_failed_total', 'Runs that failed for good.'],
  'run:cancel': ['durably_runs_cancelled_total', 'Runs that ended as cancelled.'],
  'run:retry': ['durably_run_retries_total', 'Attempts that failed and are tried again.'],
  'run:reclaim': ['durably_runs_reclaimed_total', 'Runs that were taken back from a lost worker.'],
  'step:complete': ['durably_steps_completed_total', 'Steps that were recorded.'],
  'step:fail': ['durably_steps_failed_total', 'Attempts of steps that failed.'],
} as const

type Counted = keyof typeof COUNTED

export class Metrics {
  readonly #durably: Durably
  readonly #counts = new Map<Counted, Map<string, number>>()
  readonly #durations = new Map<string, { buckets: number[]; sum: number; count: number }>()
  #errors = 0

  constructor(durably: Durably) {
    this.#durably = durably
    for (const type of Object.keys(COUNTED) as Counted[]) {
      const counts = new Map<string, number>()
      this.#counts.set(type, counts)
      durably.on(type, ({ jobName }) => void counts.set(jobName, (counts.get(jobName) ?? 0) + 1))
    }
    durably.on('run:complete', ({ jobName, duration }) => this.#time(jobName, duration / 1000))
    durably.on('worker:error', () => void this.#errors++)
  }

  /** `counts`: also the runs of the whole database by phase, which reads every run that is kept. */
  async text({ counts = false } = {}): Promise<string> {
    return [...this.#ofEvents(), ...(await this.#ofHealth()), ...(counts ? [await this.#ofPhases()] : []), ...ofProcess()]
      .map(seriesText)
      .join('')
  }

  #time(jobName: string, seconds: number): void {
    const known = this.#durations.get(jobName) ?? { buckets: BUCKETS.map(() => 0), sum: 0, count: 0 }
    this.#durations.set(jobName, {
      buckets: known.buckets.map((count, i) => count + (seconds <= (BUCKETS[i] ?? 0) ? 1 : 0)),
      sum: known.sum + seconds,
      count: known.count + 1,
    })
  }

  #ofEvents(): Series[] {
    const counters = (Object.keys(COUNTED) as Counted[]).map((type): Series => {
      const [name, help] = COUNTED[type]
      return {
        name,
        help,
        type: 'counter',
        samples: Array.from(this.#counts.get(type) ?? [], ([job, value]) => ({ labels: { job }, value })),
      }
    })
    const errors: Series = {
      name: 'durably_worker_errors_total',
      help: 'Errors that no job caused, such as a database that cannot be reached.',
      type: 'counter',
      samples: [{ value: this.#errors }],
    }
    const samples = Array.from(this.#durations).flatMap(([job, { buckets, sum, count }]): Sample[] => [
      ...buckets.map((value, i) => ({ suffix: '_bucket', labels: { job, le: String(BUCKETS[i]) }, value })),
      { suffix: '_bucket', labels: { job, le: '+Inf' }, value: count },
      { suffix: '_sum', labels: { job }, value: sum },
      { suffix: '_count', labels: { job }, value: count },
    ])
    const help = 'From the first start of a run to its completion.'
    return [...counters, errors, { name: 'durably_run_duration_seconds', help, type: 'histogram', samples }]
  }

  async #ofHealth(): Promise<Series[]> {
    const { isAlive, store, worker, oldestDue } = await this.#durably.health()
    return [
      gauge('durably_worker_alive', 'Whether the loop of the worker goes round.', Number(isAlive)),
      gauge('durably_worker_slots', 'How many runs it executes at once at most.', worker.slots),
      gauge('durably_worker_busy_slots', 'How many runs it executes now.', worker.busySlots),
      gauge('durably_store_up', 'Whether the database answers.', Number(store.isReachable)),
      gauge('durably_oldest_due_seconds', 'How long the run that is due for longest has waited.', (oldestDue?.lagMs ?? 0) / 1000),
    ]
  }

  async #ofPhases(): Promise<Series> {
    const samples = Object.entries(await this.#durably.countsByPhase()).map(([phase, value]) => ({ labels: { phase }, value }))
    return { name: 'durably_runs', help: 'Runs of the database by phase.', type: 'gauge', samples }
  }
}

function gauge(name: string, help: string, value: number): Series {
  return { name, help, type: 'gauge', samples: [{ value }] }
}

function ofProcess(): Series[] {
  const { rss } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  return [
    gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', rss),
    { name: 'process_cpu_seconds_total', help: 'User and system CPU time.', type: 'counter', samples: [{ value: (user + system) / 1e6 }] },
  ]
}
