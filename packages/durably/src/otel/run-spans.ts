// RunSpans — a span for each execution of a run, as a child of the span that triggered the run, in whichever process that was.
import { type Context, context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'
import type { EventType, RunFailEvent, RunRetryEvent } from '../model/event.ts'
import type { RunRow } from '../model/run.ts'
import type { PluginHost } from '../plugin.ts'
import { carriedContext, contextOfId } from './trace-context.ts'

/** How an execution can end, by the event that says so. Without any of them the run was lost to another worker. */
const OUTCOMES = {
  'run:complete': 'completed',
  'run:fail': 'failed',
  'run:cancel': 'cancelled',
  'run:retry': 'retry',
  'run:wait': 'waiting',
  'run:release': 'released',
} as const satisfies { [type in EventType]?: string }

interface Executing {
  span: Span
  context: Context
  outcome: string
}

export class RunSpans {
  readonly #tracer: Tracer
  /** By the id of the run: what this process executes. */
  readonly #executing = new Map<string, Executing>()

  constructor(tracer: Tracer, host: PluginHost) {
    this.#tracer = tracer
    for (const [type, outcome] of Object.entries(OUTCOMES) as [keyof typeof OUTCOMES, string][])
      host.on(type, ({ runId }) => {
        const executing = this.#executing.get(runId)
        if (executing) executing.outcome = outcome
      })
    host.on('run:fail', (event) => this.#failed(event, event.failure))
    host.on('run:retry', (event) => this.#failed(event, { name: 'Error', message: event.error ?? '' }))
  }

  /**
   * The active context; that of the run where the runtime does not carry contexts across promises. Then what happens in a step is attributed to the
   * run.
   */
  contextIn(runId: string | null): Context {
    const active = context.active()
    if (trace.getSpan(active) || runId === null) return active
    return this.#executing.get(runId)?.context ?? active
  }

  async around(run: RunRow, next: () => Promise<void>): Promise<void> {
    const parent = carriedContext(run.labels) ?? contextOfId(run.id)
    const options = { kind: SpanKind.CONSUMER, attributes: attributesOf(run) }
    const span = this.#tracer.startSpan(`run ${run.jobName}`, options, trace.setSpanContext(ROOT_CONTEXT, parent))
    const executing: Executing = { span, context: trace.setSpan(ROOT_CONTEXT, span), outcome: 'lost' }
    this.#executing.set(run.id, executing)
    try {
      await context.with(executing.context, next)
    } finally {
      // It may have been claimed anew in this process meanwhile.
      if (this.#executing.get(run.id) === executing) this.#executing.delete(run.id)
      span.setAttribute('durably.run.outcome', executing.outcome)
      span.end()
    }
  }

  #failed({ runId }: RunFailEvent | RunRetryEvent, error: { name: string; message: string; stack?: string | undefined }): void {
    const span = this.#executing.get(runId)?.span
    span?.recordException({ name: error.name, message: error.message, ...(error.stack !== undefined && { stack: error.stack }) })
    span?.setStatus({ code: SpanStatusCode.ERROR, message: error.message })
  }
}

function attributesOf(run: RunRow) {
  return {
    'durably.run.id': run.id,
    'durably.job.name': run.jobName,
    'durably.run.attempt': run.attempts + 1,
    'durably.run.execution': run.leaseGeneration,
    'durably.run.recoveries': run.recoveries,
    ...(run.workerId !== null && { 'durably.worker.id': run.workerId }),
    ...(run.parentRunId !== null && { 'durably.run.parent_id': run.parentRunId }),
    ...(run.scheduleId !== null && { 'durably.schedule.id': run.scheduleId }),
  }
}
