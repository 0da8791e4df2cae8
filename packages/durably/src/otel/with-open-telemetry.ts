import { type MeterProvider, metrics, type TracerProvider, trace } from '@opentelemetry/api'
import type { Plugin } from '../plugin.ts'
import { measure } from './measure.ts'
import { RunSpans } from './run-spans.ts'
import { stepSpan } from './step-span.ts'
import { triggerSpan } from './trigger-span.ts'

/** The options of `withOpenTelemetry`. */
export interface OpenTelemetryOptions {
  /** Where spans go. Default: the provider that is registered with `@opentelemetry/api` when the plugin is installed, or later. */
  tracerProvider?: TracerProvider
  /** Where metrics go. Default: the provider that is registered with `@opentelemetry/api` when the plugin is installed; register it before. */
  meterProvider?: MeterProvider
}

/** The name of the instrumentation scope. */
const SCOPE = '@coji/durably'

/**
 * Reports runs to OpenTelemetry: one trace for each run, which continues the trace of its `trigger`, with a span for each execution and each step,
 * and metrics. Install it in every process that triggers or executes runs.
 *
 * @example durably.use(withOpenTelemetry())
 */
export function withOpenTelemetry({ tracerProvider, meterProvider }: OpenTelemetryOptions = {}): Plugin {
  return {
    name: 'opentelemetry',
    install(host, durably) {
      const tracer = (tracerProvider ?? trace).getTracer(SCOPE)
      const runs = new RunSpans(tracer, host)
      host.wrapTrigger(triggerSpan(tracer, runs))
      host.wrapRun((run, next) => runs.around(run, next))
      host.wrapStep(stepSpan(tracer, runs))
      measure((meterProvider ?? metrics).getMeter(SCOPE), host, durably)
    },
  }
}
