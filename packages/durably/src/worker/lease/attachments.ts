// Attachments — what waits to be written with the next write of a lease: events, log lines, progress, open streams and effects (W3).
// Log lines, progress and the output of streams are telemetry: they only inform others. A write must not fail because some of it cannot be
// stored, so a write that the store rejects is sent again without the telemetry that others had attached to it (O4).
import type { EventType, RecordedEvent } from '../../model/event.ts'
import type { LogRow } from '../../model/log.ts'
import type { OwnerWrite } from '../../store/owner-write.ts'

export type Attached = Pick<OwnerWrite, 'events' | 'logs' | 'progress' | 'streams' | 'effects'>

const NONE: readonly never[] = []
const NOTHING: Attached = { events: NONE, logs: NONE, progress: null, streams: null, effects: null }
const TELEMETRY: readonly EventType[] = ['log:write', 'run:progress', 'stream:chunk']

export class Attachments {
  #events: RecordedEvent[] | null = null
  #logs: LogRow[] | null = null
  progress: string | null = null
  streams: string | null = null
  effects: string | null = null

  addEvent(event: RecordedEvent): void {
    this.#events ??= []
    this.#events.push(event)
  }

  addLog(line: LogRow): void {
    this.#logs ??= []
    this.#logs.push(line)
  }

  /** Everything that is attached, for the write that is made now. */
  take(): Attached {
    const { progress, streams, effects } = this
    if ((this.#events ?? this.#logs ?? progress ?? streams ?? effects) === null) return NOTHING
    const taken = { events: this.#events ?? NONE, logs: this.#logs ?? NONE, progress, streams, effects }
    this.#events = null
    this.#logs = null
    this.progress = null
    this.streams = null
    this.effects = null
    return taken
  }

  /** The same without telemetry, which stays attached. */
  takeWithoutTelemetry(): Attached {
    const all = this.take()
    this.putBack({ ...all, events: all.events.filter(isTelemetry), streams: null, effects: null })
    return withoutTelemetry(all)
  }

  /** What was attached to a write that did not take effect goes with the next one. */
  putBack({ events, logs, progress, streams, effects }: Attached): void {
    if (events.length > 0) this.#events = [...events, ...(this.#events ?? [])]
    if (logs.length > 0) this.#logs = [...logs, ...(this.#logs ?? [])]
    this.progress ??= progress
    this.streams ??= streams
    this.effects ??= effects
  }
}

/** What two calls of `take` returned, for one write; the streams and effects of the later one are newer. */
export function joined(earlier: Attached, later: Attached): Attached {
  if (later === NOTHING) return earlier
  if (earlier === NOTHING) return later
  return {
    events: [...earlier.events, ...later.events],
    logs: [...earlier.logs, ...later.logs],
    progress: later.progress ?? earlier.progress,
    streams: later.streams ?? earlier.streams,
    effects: later.effects ?? earlier.effects,
  }
}

export function hasTelemetry({ events, logs, progress }: Attached): boolean {
  return logs.length > 0 || progress !== null || events.some(isTelemetry)
}

export function withoutTelemetry({ events, streams, effects }: Attached): Attached {
  return { events: events.filter((event) => !isTelemetry(event)), logs: NONE, progress: null, streams, effects }
}

function isTelemetry({ type }: RecordedEvent): boolean {
  return TELEMETRY.includes(type)
}
