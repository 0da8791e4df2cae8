// TraceContext — how the context of a trace is carried from the trigger of a run to its executions: in labels of the run, in the form of the W3C
// (`traceparent`, `tracestate`). A run without them, such as one of a schedule, has a trace whose id is its own id, so that all its executions, in
// whichever process, are in one trace (ADR 0027).
import { createTraceState, isSpanContextValid, type SpanContext, TraceFlags } from '@opentelemetry/api'
import { LABELS_MAX, type Labels, VALUE_CHARS_MAX } from '../model/labels.ts'

const TRACEPARENT = /^00-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/

/** The labels with this context instead of one that was inherited. A context for which there is no room is not carried. */
export function withContext(labels: string | null, spanContext: SpanContext): string | null {
  if (!isSpanContextValid(spanContext)) return labels
  const { traceparent, tracestate, ...others } = readLabels(labels)
  const { traceId, spanId, traceFlags, traceState } = spanContext
  if (Object.keys(others).length >= LABELS_MAX) return labels
  const carried: Record<string, string> = { ...others, traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}` }
  const state = traceState?.serialize() ?? ''
  if (state !== '' && state.length <= VALUE_CHARS_MAX && Object.keys(carried).length < LABELS_MAX) carried.tracestate = state
  return JSON.stringify(carried)
}

/** Null if the labels have none. */
export function carriedContext(labels: string | null): SpanContext | null {
  const { traceparent, tracestate } = readLabels(labels)
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(traceparent ?? '') ?? []
  const spanContext: SpanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  if (!isSpanContextValid(spanContext)) return null
  return tracestate === undefined ? spanContext : { ...spanContext, traceState: createTraceState(tracestate) }
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** A ULID and the id of a trace both have 128 bits. */
export function contextOfId(runId: string): SpanContext {
  const bits = [...runId].reduce((sum, char) => sum * 32n + BigInt(CROCKFORD.indexOf(char)), 0n)
  const traceId = bits.toString(16).padStart(32, '0').slice(-32)
  return { traceId, spanId: traceId.slice(-16), traceFlags: TraceFlags.SAMPLED, isRemote: true }
}

function readLabels(labels: string | null): Labels {
  return labels === null ? {} : (JSON.parse(labels) as Labels)
}
