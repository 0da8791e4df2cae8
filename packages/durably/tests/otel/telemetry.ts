// The real SDK, with exporters that keep what they get.
import { context, SpanKind } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { onTestFinished } from 'vitest'
import { withOpenTelemetry } from '../../src/otel/index.ts'

/** An hour, so that only `collect` does. */
const NEVER_MS = 3_600_000

export function telemetry() {
  const spans = new InMemorySpanExporter()
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] })
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: NEVER_MS })
  const meterProvider = new MeterProvider({ readers: [reader] })
  onTestFinished(async () => {
    await meterProvider.shutdown()
    await tracerProvider.shutdown()
  })
  return {
    plugin: () => withOpenTelemetry({ tracerProvider, meterProvider }),
    tracer: tracerProvider.getTracer('the program'),
    /** By name, in the order in which they ended. */
    spans: () => spans.getFinishedSpans(),
    span(name: string): ReadableSpan {
      const found = spans.getFinishedSpans().filter((span) => span.name === name)
      if (found.length !== 1 || !found[0]) throw new Error(`${found.length} spans are named ${name}`)
      return found[0]
    },
    async collect() {
      await reader.forceFlush()
      return (
        exporter
          .getMetrics()
          .at(-1)
          ?.scopeMetrics.flatMap(({ metrics }) => metrics) ?? []
      )
    },
  }
}

/** What carries contexts across promises; it is one for all of a process. */
export function carryContexts(): void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
}

/** The tree of spans, one line each: children below their parent, in the order of their start. */
export function tree(spans: readonly ReadableSpan[]): string[] {
  const ids = new Set(spans.map((span) => span.spanContext().spanId))
  const begun = [...spans].sort((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1])
  const below = (parent: string | undefined, depth: number): string[] =>
    begun
      .filter(({ parentSpanContext: one }) => (parent === undefined ? !one || !ids.has(one.spanId) : one?.spanId === parent))
      .flatMap((span) => [`${'  '.repeat(depth)}${line(span)}`, ...below(span.spanContext().spanId, depth + 1)])
  return below(undefined, 0)
}

function line({ name, kind, attributes }: ReadableSpan): string {
  const outcome = attributes['durably.run.outcome']
  return `${name}${kind === SpanKind.INTERNAL ? '' : ` (${SpanKind[kind]})`}${outcome === undefined ? '' : ` ${outcome}`}`
}
