import { context, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'
import type { StepInfo, StepWrapper } from '../worker/steps/step-wrapper.ts'
import type { RunSpans } from './run-spans.ts'

/** A span for each call of a step function. Spans that the function makes are its children, if the SDK carries contexts across promises. */
export function stepSpan(tracer: Tracer, runs: RunSpans): StepWrapper {
  return async (step, next) => {
    const parent = runs.contextIn(step.runId)
    const attributes = {
      'durably.run.id': step.runId,
      'durably.job.name': step.jobName,
      'durably.step.name': step.stepName,
      'durably.step.index': step.stepIndex,
    }
    const span = tracer.startSpan(`step ${step.stepName}`, { attributes }, parent)
    try {
      return await context.with(trace.setSpan(parent, span), next)
    } catch (error) {
      const interruption = interruptionOf(step)
      if (interruption) span.setAttribute('durably.step.interrupted', interruption)
      else {
        span.recordException(error as Error)
        span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) })
      }
      throw error
    } finally {
      span.end()
    }
  }
}

/** A step that was asked to stop has not failed: it runs again when its run goes on. One whose time is over has. */
function interruptionOf({ signal }: StepInfo): string | null {
  const code = signal.aborted ? (signal.reason as { code?: unknown } | undefined)?.code : undefined
  return typeof code === 'string' && code !== 'timeout' ? code : null
}
