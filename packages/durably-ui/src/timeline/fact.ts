// Fact — what a timeline keeps of an event: no payloads, so that a long history stays small.
import type { RunLogEvent } from '@coji/durably/client'

/** `at` is in milliseconds since 1970. */
export type Fact = { readonly at: number } & (
  | { readonly kind: 'start'; readonly workerId: string | null }
  | { readonly kind: 'end'; readonly how: EndOfTurn; readonly error?: string }
  | { readonly kind: 'step start'; readonly step: string; readonly index: number }
  | { readonly kind: 'step end'; readonly step: string; readonly index: number; readonly tookMs: number }
  | { readonly kind: 'step fail'; readonly step: string; readonly index: number; readonly error: string; readonly willRetry: boolean }
  | { readonly kind: 'sign of life' }
)

/** How a worker's turn with a run ended. */
export type EndOfTurn = 'completed' | 'failed' | 'cancelled' | 'waiting' | 'trying again' | 'released' | 'lost'

/** Null for an event that a timeline does not show. */
export function factOf(event: RunLogEvent): Fact | null {
  const at = Date.parse(event.timestamp)
  switch (event.type) {
    case 'run:start':
      return { at, kind: 'start', workerId: event.workerId }
    case 'run:wait':
      return { at, kind: 'end', how: 'waiting' }
    case 'run:retry':
      // Without an attempt somebody called retry(): the run had ended before.
      return event.attempt === undefined ? null : { at, kind: 'end', how: 'trying again', error: event.error ?? '' }
    case 'run:release':
      return { at, kind: 'end', how: 'released' }
    case 'run:reclaim':
      return { at, kind: 'end', how: 'lost' }
    case 'run:complete':
      return { at, kind: 'end', how: 'completed' }
    case 'run:fail':
      return { at, kind: 'end', how: 'failed', error: event.error }
    case 'run:cancel':
      return { at, kind: 'end', how: 'cancelled' }
    case 'step:start':
      return { at, kind: 'step start', step: event.stepName, index: event.stepIndex }
    case 'step:complete':
      return { at, kind: 'step end', step: event.stepName, index: event.stepIndex, tookMs: event.duration }
    case 'step:fail':
      return { at, kind: 'step fail', step: event.stepName, index: event.stepIndex, error: event.error, willRetry: event.willRetry }
    case 'run:progress':
    case 'stream:chunk':
    case 'log:write':
      return { at, kind: 'sign of life' }
    default:
      return null
  }
}
