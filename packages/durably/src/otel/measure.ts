// The metrics. With the names that an exporter for Prometheus makes of them they are those of `durably worker`: a test compares them.
import type { Meter } from '@opentelemetry/api'
import type { Durably } from '../durably.ts'
import type { PluginHost } from '../plugin.ts'

/** The upper ends of the buckets, in seconds. */
const BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1800, 7200]

/** The events that are counted, by job. */
const COUNTED = {
  'run:start': ['durably.run.starts', 'Claims that began or continued a run.'],
  'run:complete': ['durably.runs.completed', 'Runs that completed.'],
  'run:fail': ['durably.runs.failed', 'Runs that failed for good.'],
  'run:cancel': ['durably.runs.cancelled', 'Runs that ended as cancelled.'],
  'run:retry': ['durably.run.retries', 'Attempts that failed and are tried again.'],
  'run:reclaim': ['durably.runs.reclaimed', 'Runs that were taken back from a lost worker.'],
  'step:complete': ['durably.steps.completed', 'Steps that were recorded.'],
  'step:fail': ['durably.steps.failed', 'Attempts of steps that failed.'],
} as const

export function measure(meter: Meter, host: PluginHost, durably: Durably): void {
  for (const type of Object.keys(COUNTED) as (keyof typeof COUNTED)[]) {
    const [name, description] = COUNTED[type]
    const counter = meter.createCounter(name, { description })
    host.on(type, ({ jobName }) => counter.add(1, { job: jobName }))
  }
  const description = 'Errors that no job caused, such as a database that cannot be reached.'
  const errors = meter.createCounter('durably.worker.errors', { description })
  host.on('worker:error', () => errors.add(1))
  const duration = meter.createHistogram('durably.run.duration', {
    description: 'From the first start of a run to its completion.',
    unit: 's',
    advice: { explicitBucketBoundaries: BUCKETS },
  })
  host.on('run:complete', (event) => duration.record(event.duration / 1000, { job: event.jobName }))
  observeHealth(meter, durably)
}

/** Asked for by whoever collects the metrics; without a provider of meters nobody does. */
function observeHealth(meter: Meter, durably: Durably): void {
  const gauge = (name: string, description: string, unit = '') => meter.createObservableGauge(name, { description, unit })
  const alive = gauge('durably.worker.alive', 'Whether the loop of the worker goes round.')
  const slots = gauge('durably.worker.slots', 'How many runs it executes at once at most.')
  const busy = gauge('durably.worker.busy_slots', 'How many runs it executes now.')
  const up = gauge('durably.store.up', 'Whether the database answers.')
  const oldest = gauge('durably.oldest_due', 'How long the run that is due for longest has waited.', 's')
  meter.addBatchObservableCallback(
    async (observed) => {
      const { isAlive, store, worker, oldestDue } = await durably.health()
      observed.observe(alive, Number(isAlive))
      observed.observe(slots, worker.slots)
      observed.observe(busy, worker.busySlots)
      observed.observe(up, Number(store.isReachable))
      observed.observe(oldest, (oldestDue?.lagMs ?? 0) / 1000)
    },
    [alive, slots, busy, up, oldest],
  )
}
