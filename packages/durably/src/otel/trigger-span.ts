import { context, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'
import type { TriggerWrapper } from '../runs/trigger-wrapper.ts'
import type { Created } from '../store/runs.ts'
import type { RunSpans } from './run-spans.ts'
import { carriedContext, contextOfId, withContext } from './trace-context.ts'

/** A span for each trigger. Its context becomes labels of the new runs. */
export function triggerSpan(tracer: Tracer, runs: RunSpans): TriggerWrapper {
  return async (newRuns, next) => {
    const [first] = newRuns
    if (!first) return next()
    const parent = runs.contextIn(first.parentRunId)
    const attributes = {
      'durably.job.name': first.jobName,
      ...(first.parentRunId !== null && { 'durably.run.parent_id': first.parentRunId }),
      ...(newRuns.length > 1 && { 'durably.batch.size': newRuns.length }),
    }
    const span = tracer.startSpan(`trigger ${first.jobName}`, { kind: SpanKind.PRODUCER, attributes }, parent)
    for (const run of newRuns) run.labels = withContext(run.labels, span.spanContext())
    try {
      const created = await context.with(trace.setSpan(parent, span), next)
      describe(span, created)
      return created
    } catch (error) {
      span.recordException(error as Error)
      span.setStatus({ code: SpanStatusCode.ERROR, message: String(error) })
      throw error
    } finally {
      span.end()
    }
  }
}

/** A run that existed already is in a trace of its own, to which the span is linked: another trigger had its key, or its parent goes on. */
function describe(span: Span, created: readonly Created[]): void {
  const [only, ...others] = created
  if (only && others.length === 0) span.setAttribute('durably.run.id', only.run.id)
  for (const { run, created: isNew } of created)
    if (!isNew) span.addLink({ context: carriedContext(run.labels) ?? contextOfId(run.id), attributes: { 'durably.run.id': run.id } })
}
