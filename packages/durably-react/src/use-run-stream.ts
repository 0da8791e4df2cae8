// useRunStream — the output of a `ctx.stream` step, live and afterwards. The text of a superseded attempt is removed, so nothing is shown
// twice.
import type { StreamView } from '@coji/durably/client'
import { useMemo } from 'react'
import type { Connection, RunState } from './observe/run-state.ts'
import { STATE } from './use-run.ts'
import { type RunPart, useRunPart } from './use-run-part.ts'

/** What `useRunStream` returns. */
export interface UseRunStreamResult extends StreamView {
  /** Whether no more output follows: the step is recorded, or its run has ended or is gone. */
  isDone: boolean
  /** The state of the connection, for people to see. */
  connection: Connection
  /** Why the run cannot be read, or what it failed with; null if all is well. */
  error: Error | null
}

/**
 * Follows the output of a `ctx.stream` step, while it runs and afterwards. Output of an attempt that did not finish is removed, so nothing
 * is shown twice.
 *
 * @example const { text, isDone } = useRunStream(runId, 'answer')
 */
export function useRunStream(runId: string | null, stepName: string): UseRunStreamResult {
  const part = useMemo<RunPart<StreamView>>(
    () => ({ of: ({ streams }) => streamOf(streams, stepName), unknown: NO_STREAM, history: true }),
    [stepName],
  )
  const stream = useRunPart(runId, part)
  const { isAtEnd, connection, error } = useRunPart(runId, WHOLE_STATE)
  return { ...stream, isDone: stream.isDone || isAtEnd, connection, error }
}

/** An observer without the history is at the end as soon as it has read a run that has ended, before any output. */
const WHOLE_STATE: RunPart<RunState> = { ...STATE, history: true }

const NO_STREAM: StreamView = { chunks: [], text: '', state: undefined, isDone: false }

function streamOf(streams: { readonly [stepName: string]: StreamView }, stepName: string): StreamView {
  return (Object.hasOwn(streams, stepName) ? streams[stepName] : undefined) ?? NO_STREAM
}
