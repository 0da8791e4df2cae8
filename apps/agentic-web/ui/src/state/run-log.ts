// What the page knows of a run from its events: a pure function of them. An entry of the log that was seen before changes nothing, so
// however often the connection breaks, nothing is lost and nothing is doubled.
import type { AgentEvent, DoneEvent, ErrorEvent, RunModelEvent, StepStartEvent, ToolResultEvent, Usage } from '../../../src/wire/event.ts'
import { cutOutput, type Output, type OutputPart, writePart } from './step-output.ts'

/** One entry of the run's log: its events belong together, and only the last of them came with an `id:`. */
export interface LogEntry {
  seq: number
  events: readonly AgentEvent[]
}

export interface RunLog {
  /** The cursor: `Last-Event-ID` of the next connection. */
  lastSeq: number
  steps: readonly Step[]
  attempts: readonly Attempt[]
  model: Omit<RunModelEvent, 'type'> | null
  /** The last call of the model failed, and is made again. */
  retry: { message: string; until: string } | null
  error: Omit<ErrorEvent, 'type'> | null
  done: DoneEvent['status'] | null
  endedAt: string | null
}

export interface Step {
  id: string
  kind: StepStartEvent['kind']
  number: number
  startedAt: string | null
  output: Output
  result: ToolResult | null
  /** Of a tool that needs approval. */
  approval: ToolApproval | null
  /** Null until the step is recorded. */
  durationMs: number | null
  usage: Usage | null
  /** Why this call of the model does not count. */
  failure: string | null
}

export type ToolResult = Pick<ToolResultEvent, 'content' | 'is_error' | 'truncated' | 'artifact' | 'violation'>

export interface ToolApproval {
  stepId: string
  expiresAt: string
  /** Null until somebody has decided, or the time is over. */
  isApproved: boolean | null
}

/** From the moment a worker begins or continues the run until it no longer works on it. */
export interface Attempt {
  workerId: string | null
  startedAt: string
  end: { reason: 'worker_lost' | 'worker_stopped' | 'waits'; at: string; until?: string } | null
}

export const EMPTY_LOG: RunLog = { lastSeq: 0, steps: [], attempts: [], model: null, retry: null, error: null, done: null, endedAt: null }

export function applyEntry(log: RunLog, { seq, events }: LogEntry): RunLog {
  if (seq <= log.lastSeq) return log
  return { ...events.reduce(applyEvent, log), lastSeq: seq }
}

function applyEvent(log: RunLog, event: AgentEvent): RunLog {
  switch (event.type) {
    case 'run_start':
      return { ...log, attempts: [...log.attempts, { workerId: event.worker_id, startedAt: event.timestamp, end: null }] }
    case 'run_restart':
      return endAttempt(log, { reason: event.reason, at: event.timestamp })
    case 'run_wait':
      return endAttempt(log, { reason: 'waits', at: event.timestamp, until: event.until })
    case 'run_model': {
      const { type, ...model } = event
      return { ...log, model }
    }
    case 'step_start': {
      const { step_id, kind, step_number, timestamp } = event
      return { ...changeStep(log, step_id, () => ({ kind, number: step_number, startedAt: timestamp })), retry: null }
    }
    case 'text':
      return write(log, event, { type: 'text', text: event.content })
    case 'reasoning':
      return write(log, event, { type: 'reasoning', text: event.content })
    case 'tool_call': {
      const { tool_call_id, tool_step_id, tool, args } = event
      return write(log, event, { type: 'tool_call', toolCallId: tool_call_id, toolStepId: tool_step_id, tool, args })
    }
    case 'step_reset':
      return changeStep(log, event.step_id, ({ output }) => ({ output: cutOutput(output, event.to) }))
    case 'tool_result': {
      const { content, is_error, truncated, artifact, violation } = event
      const result = { content, is_error, truncated, ...(artifact && { artifact }), ...(violation && { violation }) }
      return changeStep(log, event.step_id, () => ({ kind: 'tool', result }))
    }
    case 'approval_request': {
      const approval = { stepId: event.step_id, expiresAt: event.expires_at, isApproved: null }
      return changeStep(log, event.step_id, () => ({ kind: 'tool', approval }))
    }
    case 'approval_decision':
      return changeStep(log, event.step_id, ({ approval }) => ({ approval: approval && { ...approval, isApproved: event.approved } }))
    case 'step_complete':
      return changeStep(log, event.step_id, () => ({ durationMs: event.duration_ms, usage: event.usage ?? null }))
    case 'retry': {
      const { message, until } = event
      return { ...changeStep(log, event.step_id, () => ({ failure: message })), retry: { message, until } }
    }
    case 'final':
      return log
    case 'error':
      return { ...log, error: { code: event.code, message: event.message } }
    case 'done':
      return { ...log, done: event.status, endedAt: event.timestamp, retry: null }
  }
}

function endAttempt(log: RunLog, end: Attempt['end']): RunLog {
  const last = log.attempts.at(-1)
  return last && !last.end ? { ...log, attempts: [...log.attempts.slice(0, -1), { ...last, end }] } : log
}

function write(log: RunLog, { step_id, at }: { step_id: string; at: number }, part: OutputPart): RunLog {
  return changeStep(log, step_id, ({ output }) => ({ output: writePart(output, at, part) }))
}

function changeStep(log: RunLog, id: string, change: (step: Step) => Partial<Step>): RunLog {
  const known = log.steps.find((step) => step.id === id)
  const step = known ?? { ...NEW_STEP, id }
  const changed = { ...step, ...change(step) }
  return { ...log, steps: known ? log.steps.map((other) => (other === known ? changed : other)) : [...log.steps, changed] }
}

const NEW_STEP: Omit<Step, 'id'> = {
  kind: 'model',
  number: 1,
  startedAt: null,
  output: [],
  result: null,
  approval: null,
  durationMs: null,
  usage: null,
  failure: null,
}
