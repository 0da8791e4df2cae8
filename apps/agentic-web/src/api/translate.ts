// The engine's events in the words of the page (wire/event.ts). A whitelist: an event, a step or a field that is not named here stays in the
// server. It looks at one event only, so every server gives the same events for the same log, wherever a page begins to read.
import type { RunLogEvent } from '@coji/durably'
import type { ModelChunk } from '../model/chunk.ts'
import type { AgentEvent, DoneEvent } from '../wire/event.ts'
import type { RunOutput } from '../worker/agent-run.ts'
import type { Decision, Question } from '../worker/approval.ts'
import type { RecordedAttempt } from '../worker/ask-model.ts'
import type { Prepared } from '../worker/prepare.ts'
import { approvedStep, PREPARE, shownStep } from '../worker/step-names.ts'
import type { UsedTool } from '../worker/use-tool.ts'
import { runError } from './run-views.ts'

type EventOf<T extends RunLogEvent['type']> = Extract<RunLogEvent, { type: T }>

export function translate(event: RunLogEvent): AgentEvent[] {
  const { timestamp } = event
  switch (event.type) {
    case 'run:start':
      return [{ type: 'run_start', worker_id: event.workerId, timestamp }]
    case 'run:reclaim':
      return [{ type: 'run_restart', reason: 'worker_lost', timestamp }]
    case 'run:release':
      return [{ type: 'run_restart', reason: 'worker_stopped', timestamp }]
    case 'run:wait':
      return [{ type: 'run_wait', until: event.runAt, timestamp }]
    case 'step:start':
      return stepStart(event)
    case 'stream:chunk':
      return shownStep(event.stepName) ? chunks(event) : []
    case 'stream:reset':
      return shownStep(event.stepName) ? [{ type: 'step_reset', step_id: event.stepName, to: event.to }] : []
    case 'step:complete':
      return stepComplete(event)
    case 'run:complete':
      return [{ type: 'final', content: (event.output as RunOutput).text }, done('completed', timestamp)]
    case 'run:fail':
      return [{ type: 'error', ...runError(reasonOf(event), event.failure) }, done('failed', timestamp)]
    case 'run:cancel':
      return [done('cancelled', timestamp)]
    default:
      return []
  }
}

function done(status: DoneEvent['status'], timestamp: string): DoneEvent {
  return { type: 'done', status, timestamp }
}

/** The engine's own errors have these codes. */
function reasonOf({ failure }: EventOf<'run:fail'>): string | null {
  return failure.name === 'DurablyError' && (failure.code === 'timeout' || failure.code === 'crash_loop') ? failure.code : null
}

function stepStart({ stepName, timestamp }: EventOf<'step:start'>): AgentEvent[] {
  const step = shownStep(stepName)
  if (!step) return []
  const number = step.call + 1
  const title = step.kind === 'model' ? `Model call ${number}` : `Tool of call ${number}`
  return [{ type: 'step_start', step_id: stepName, kind: step.kind, step_number: number, title, timestamp }]
}

/** In UTF-16 units: an event stays below 64 KiB, also if every character has three bytes. */
const CONTENT_MAX = 16 * 1024

function chunks({ stepName, from, chunks }: EventOf<'stream:chunk'>): AgentEvent[] {
  let at = from
  return (chunks as readonly ModelChunk[]).flatMap((chunk): AgentEvent[] => {
    const begin = at
    at += typeof chunk === 'string' ? chunk.length : 1
    if (typeof chunk === 'string') return texts(stepName, begin, chunk)
    if ('reasoning' in chunk) return [{ type: 'reasoning', step_id: stepName, at: begin, content: chunk.reasoning }]
    const { tool_call_id, tool_step_id, tool, args } = chunk.tool_call
    return [{ type: 'tool_call', step_id: stepName, at: begin, tool_call_id, tool_step_id, tool, args: shownArgs(args) }]
  })
}

function texts(step_id: string, from: number, text: string): AgentEvent[] {
  const count = Math.ceil(text.length / CONTENT_MAX)
  return Array.from({ length: count }, (_, i) => {
    const begin = i * CONTENT_MAX
    return { type: 'text', step_id, at: from + begin, content: text.slice(begin, begin + CONTENT_MAX) }
  })
}

function shownArgs(args: unknown): unknown {
  const json = JSON.stringify(args)
  return json.length > CONTENT_MAX ? `${json.slice(0, CONTENT_MAX)}…` : args
}

function stepComplete(event: EventOf<'step:complete'>): AgentEvent[] {
  const { stepName, output, duration, timestamp } = event
  if (stepName === PREPARE) return [{ type: 'run_model', ...(output as Prepared).model }]
  const approval = approvedStep(stepName)
  if (approval?.of === 'question') return [{ type: 'approval_request', step_id: approval.step, ...(output as Question), timestamp }]
  if (approval) return [decided(approval.step, output, timestamp)]
  const complete = { type: 'step_complete' as const, step_id: stepName, duration_ms: duration, timestamp }
  switch (shownStep(stepName)?.kind) {
    case 'model':
      return modelComplete(complete, output as RecordedAttempt)
    case 'tool': {
      const { type, ...result } = (output as UsedTool).result
      return [{ type, step_id: stepName, ...result }, complete]
    }
    case undefined:
      return []
  }
}

/** The record of a wait is a list: of the value that came, or empty if the time was over. */
function decided(step_id: string, output: unknown, timestamp: string): AgentEvent {
  const [decision] = output as [Decision?]
  return { type: 'approval_decision', step_id, approved: decision?.approved ?? false, by: decision?.by ?? null, timestamp }
}

type StepComplete = Extract<AgentEvent, { type: 'step_complete' }>

function modelComplete(complete: StepComplete, { result, retryInMs }: RecordedAttempt): AgentEvent[] {
  if ('answer' in result) return [{ ...complete, usage: result.answer.usage }]
  // Without another attempt the run fails, and its last event says why. What was said until then stays, as cut off.
  if (retryInMs === null) return [complete]
  const { step_id, timestamp } = complete
  const until = new Date(Date.parse(timestamp) + retryInMs).toISOString()
  return [
    { type: 'step_reset', step_id, to: 0 },
    { type: 'retry', step_id, message: result.failure.message, until, timestamp },
  ]
}
