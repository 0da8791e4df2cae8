// The figures of `withOpenTelemetry()` and of `/metrics` are the same: an exporter for Prometheus makes the same series of both.
import { createDurably } from '@coji/durably'
import { memoryStore } from '@coji/durably/memory'
import { withOpenTelemetry } from '@coji/durably/otel'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Metrics } from '../src/worker/metrics.ts'

/** What the specification of OpenTelemetry says of the names of Prometheus. */
function prometheusName({ descriptor: { name, unit } }: MetricData, isCounter: boolean): string {
  return `${name.replaceAll('.', '_')}${unit === 's' ? '_seconds' : ''}${isCounter ? '_total' : ''}`
}

function samples(metric: MetricData, text: string): string[] {
  const name = prometheusName(metric, text.includes(`# TYPE ${prometheusName(metric, true)} counter`))
  return metric.dataPoints.flatMap(({ attributes, value }) => {
    const job = attributes.job === undefined ? '' : `{job="${attributes.job}"}`
    if (typeof value === 'number') return [`${name}${job} ${value}`]
    if (!('buckets' in value) || !value.buckets.boundaries) throw new Error(`${name} is neither a number nor a histogram of fixed buckets`)
    const { boundaries, counts } = value.buckets
    const below = (i: number) => counts.slice(0, i + 1).reduce((sum, count) => sum + count, 0)
    return [
      ...boundaries.map((le, i) => `${name}_bucket{job="${attributes.job}",le="${le}"} ${below(i)}`),
      `${name}_sum${job} ${value.sum}`,
      `${name}_count${job} ${value.count}`,
    ]
  })
}

test('every figure of OpenTelemetry is in the text of /metrics, with the same value', async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
  const meterProvider = new MeterProvider({ readers: [reader] })
  await using durably = createDurably({ store: memoryStore(), logger: false })
  await durably.migrate()
  const metrics = new Metrics(durably)
  durably.use(withOpenTelemetry({ meterProvider }))
  const good = durably.defineJob({ name: 'good', input: z.unknown() }, (ctx) => ctx.run('step', () => 1))
  const bad = durably.defineJob({ name: 'bad', input: z.unknown() }, (ctx) =>
    ctx.run('step', () => {
      throw new Error('no')
    }),
  )
  const waiting = durably.defineJob({ name: 'waiting', input: z.unknown() }, (ctx) => ctx.sleep('long', '1d'))
  await good.batchTrigger([{ payload: 1 }, { payload: 2 }])
  await bad.trigger(null)
  const { id } = await waiting.trigger(null)
  await durably.processUntilIdle()
  await durably.cancel(id)

  await reader.forceFlush()
  const text = await metrics.text()
  const figures =
    exporter
      .getMetrics()
      .at(-1)
      ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? []
  const lines = figures.flatMap((metric) => samples(metric, text))
  expect(lines).toContain('durably_runs_completed_total{job="good"} 2')
  expect(lines).toContain('durably_runs_failed_total{job="bad"} 1')
  expect(lines).toContain('durably_oldest_due_seconds 0')
  expect(lines.filter((line) => !text.includes(`${line}\n`))).toEqual([])
  const names = Array.from(text.matchAll(/^# TYPE (durably_\w+) (\w+)/gm), ([, name]) => name)
  const instruments = figures.flatMap((metric) => [prometheusName(metric, true), prometheusName(metric, false)])
  const unheard = ['durably_run_retries_total', 'durably_runs_reclaimed_total', 'durably_worker_errors_total']
  expect(names.filter((name) => !instruments.includes(name ?? '')).sort()).toEqual(unheard)
  await meterProvider.shutdown()
})
