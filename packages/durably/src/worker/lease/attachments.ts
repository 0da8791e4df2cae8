// Attachments — what waits to be written with the next write of a lease: events, log lines, progress, open streams and effects (W3).
import type { RecordedEvent } from '../../model/event.ts'
import type { LogRow } from '../../model/log.ts'
import type { OwnerWrite } from '../../store/owner-write.ts'

type Attached = Pick<OwnerWrite, 'events' | 'logs' | 'progress' | 'streams' | 'effects'>

const NONE: readonly never[] = []

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
    const taken = { events: this.#events ?? NONE, logs: this.#logs ?? NONE, progress, streams, effects }
    this.#events = null
    this.#logs = null
    this.progress = null
    this.streams = null
    this.effects = null
    return taken
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
