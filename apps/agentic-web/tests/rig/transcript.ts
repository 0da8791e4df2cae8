// What a page makes of the events of a run, by the rules of wire/event.ts. Applying an event twice changes nothing.
import type { AgentEvent, DoneEvent } from '../../dist/wire/event.js'

export interface Transcript {
  /** What each step has said, as a list of positions: a character, or anything else as JSON. */
  steps: Map<string, string[]>
  results: Map<string, string>
  /** Steps of tools that wait, or waited, for approval; null until somebody decided. */
  approvals: Map<string, boolean | null>
  starts: number
  restarts: string[]
  error: { code: string; message: string } | null
  done: DoneEvent['status'] | null
}

export function emptyTranscript(): Transcript {
  return { steps: new Map(), results: new Map(), approvals: new Map(), starts: 0, restarts: [], error: null, done: null }
}

export function apply(transcript: Transcript, event: AgentEvent): void {
  switch (event.type) {
    case 'text':
      return write(transcript, event.step_id, event.at, event.content.split(''))
    case 'reasoning':
      return write(transcript, event.step_id, event.at, [`<${event.content}>`])
    case 'tool_call':
      return write(transcript, event.step_id, event.at, [`[${event.tool} ${JSON.stringify(event.args)}]`])
    case 'step_reset':
      return write(transcript, event.step_id, event.to, [])
    case 'tool_result':
      return void transcript.results.set(event.step_id, event.content)
    case 'approval_request':
      return void transcript.approvals.set(event.step_id, transcript.approvals.get(event.step_id) ?? null)
    case 'approval_decision':
      return void transcript.approvals.set(event.step_id, event.approved)
    case 'run_start':
      return void transcript.starts++
    case 'run_restart':
      return void transcript.restarts.push(event.reason)
    case 'error':
      transcript.error = { code: event.code, message: event.message }
      return
    case 'done':
      transcript.done = event.status
      return
    default:
      return
  }
}

function write({ steps }: Transcript, step: string, at: number, more: string[]): void {
  steps.set(step, [...(steps.get(step) ?? []).slice(0, at), ...more])
}

/** All that was said, step by step. */
export function textOf({ steps }: Transcript): string {
  return [...steps.values()].map((positions) => positions.join('')).join('|')
}
