// RunView — what a run looks like after some of its events. Pure: the same events give the same view, wherever they
// come from and however often the connection broke. An event that was seen before changes nothing.

import { cutChunks, writeChunks } from '../model/chunks.ts'
import type { RunLogEvent } from '../model/event.ts'
import type { Progress, RunStatus } from '../model/run.ts'

/** The state of a run after some of its events; see `reduceRun`. */
export interface RunView {
  /** The `sequence` of the last event in it: subscribe `after` it to continue. */
  readonly sequence: number
  /** The status of the run. */
  readonly status: RunStatus
  /** What the job last reported; null if nothing. */
  readonly progress: Progress | null
  /** What the job returned; null until it has completed. */
  readonly output: unknown
  /** The message of the error; null if there was none. */
  readonly error: string | null
  /** The output of each `ctx.stream` step, by the name of the step. */
  readonly streams: { readonly [stepName: string]: StreamView }
}

/** The output of a `ctx.stream` step, so far. */
export interface StreamView {
  /** The chunks that were emitted; adjacent texts are one chunk. */
  readonly chunks: readonly unknown[]
  /** All texts among the chunks, joined. */
  readonly text: string
  /** The state of the last checkpoint; undefined if there was none. */
  readonly state: unknown
  /** Whether the step is recorded, so that no more output follows. */
  readonly isDone: boolean
}

/** The state of a run before its first event: what to begin with. */
export const emptyRunView: RunView = { sequence: 0, status: 'pending', progress: null, output: null, error: null, streams: {} }

/** Returns the state after one more event. An event that is already in it changes nothing, so events may be read again after a break. */
export function reduceRun(view: RunView, event: RunLogEvent): RunView {
  return event.sequence <= view.sequence ? view : { ...view, ...changes(view, event), sequence: event.sequence }
}

function changes(view: RunView, event: RunLogEvent): Partial<RunView> {
  switch (event.type) {
    case 'run:start':
      return { status: 'running' }
    case 'run:trigger':
    case 'run:wait':
    case 'run:release':
    case 'run:reclaim':
      return { status: 'pending' }
    case 'run:retry':
      return { status: 'pending', error: event.error ?? null }
    case 'run:progress':
      return { progress: event.progress }
    case 'run:complete':
      return { status: 'completed', output: event.output }
    case 'run:fail':
      return { status: 'failed', error: event.error }
    case 'run:cancel':
      return { status: 'cancelled' }
    case 'stream:chunk':
      return changeStream(view, event.stepName, ({ chunks, state }) => ({
        chunks: writeChunks(chunks, event.from, event.chunks),
        // A checkpoint is overwritten with what stood before it.
        state: event.checkpoint || event.from === 0 ? event.checkpoint?.state : state,
      }))
    case 'stream:reset':
      return changeStream(view, event.stepName, ({ chunks, state }) => ({ chunks: cutChunks(chunks, event.to), state }))
    case 'step:complete':
      return Object.hasOwn(view.streams, event.stepName) ? changeStream(view, event.stepName, (stream) => stream, true) : {}
    default:
      return {}
  }
}

function changeStream(
  { streams }: RunView,
  stepName: string,
  change: (stream: StreamView) => Pick<StreamView, 'chunks' | 'state'>,
  isDone = false,
): Partial<RunView> {
  const { chunks, state } = change(Object.hasOwn(streams, stepName) ? (streams[stepName] ?? NEW_STREAM) : NEW_STREAM)
  const text = chunks.filter((chunk) => typeof chunk === 'string').join('')
  return { streams: { ...streams, [stepName]: { chunks, text, state, isDone } } }
}

const NEW_STREAM: StreamView = { chunks: [], text: '', state: undefined, isDone: false }
