// LogSource — writes the events of the followed logs as frames of an event stream.
import type { FollowedLogs } from '../events/followed-logs.ts'
import { DurablyError } from '../model/errors.ts'
import type { RunLogEvent } from '../model/event.ts'
import type { TerminalStatus } from '../model/run.ts'
import type { FrameSource } from './event-stream.ts'

/** Large enough for few writes, small enough to hold in memory. */
const TEXT_MAX = 64 * 1024

export interface LogFrames {
  /** Empty if the reader does not get it. */
  event(event: RunLogEvent): string
  done(runId: string, status: TerminalStatus): string
  gone(runId: string): string
}

export class LogSource implements FrameSource {
  readonly #logs: FollowedLogs
  readonly #frames: LogFrames
  /** The events of the last page that were not written yet. */
  #page: RunLogEvent[] = []

  constructor(logs: FollowedLogs, frames: LogFrames) {
    this.#logs = logs
    this.#frames = frames
  }

  async next(signal: AbortSignal): Promise<string | null> {
    for (;;) {
      const text = await this.#read(signal)
      if (text !== '') return text
    }
  }

  async #read(signal: AbortSignal): Promise<string | null> {
    if (this.#page.length > 0) return this.#textOfPage()
    try {
      const followed = await this.#logs.next(signal)
      if (!followed) return null
      if ('ended' in followed) return this.#frames.done(followed.runId, followed.ended)
      this.#page = [...followed.events]
    } catch (error) {
      const runId = missingRun(error)
      if (runId === undefined) throw error
      // It may have been dropped while it was read; then its frame was sent already.
      return this.#logs.runIds.includes(runId) ? this.drop(runId) : ''
    }
    return this.#textOfPage()
  }

  /** Stops following this run, and returns the frame that says that it is gone. */
  drop(runId: string): string {
    this.#logs.drop(runId)
    if (this.#page[0]?.runId === runId) this.#page = []
    return this.#frames.gone(runId)
  }

  close(): void {
    this.#logs.close()
    this.#page = []
  }

  #textOfPage(): string {
    let text = ''
    let written = 0
    for (const event of this.#page) {
      text += this.#frames.event(event)
      written += 1
      if (text.length > TEXT_MAX) break
    }
    this.#page.splice(0, written)
    return text
  }
}

/** The run that the error says was deleted, or was never there. */
function missingRun(error: unknown): string | undefined {
  if (!(error instanceof DurablyError)) return undefined
  return error.code === 'run_deleted' || error.code === 'run_not_found' ? error.runId : undefined
}
