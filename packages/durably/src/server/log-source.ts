// LogSource — what happened in the logs that are followed, in the words of a stream.
import type { FollowedLogs } from '../events/followed-logs.ts'
import type { RunLogEvent } from '../model/event.ts'
import type { TerminalStatus } from '../model/run.ts'
import type { FrameSource } from './event-stream.ts'

/** Enough for few large writes, little enough to hold. */
const TEXT_MAX = 64 * 1024

export interface LogFrames {
  event(event: RunLogEvent): string
  done(runId: string, status: TerminalStatus): string
  gone(runId: string): string
}

export class LogSource implements FrameSource {
  readonly #logs: FollowedLogs
  readonly #words: LogFrames
  /** What is left of the page that was read last. */
  #page: RunLogEvent[] = []

  constructor(logs: FollowedLogs, words: LogFrames) {
    this.#logs = logs
    this.#words = words
  }

  async next(signal: AbortSignal): Promise<string | null> {
    if (this.#page.length === 0) {
      const followed = await this.#logs.next(signal)
      if (!followed) return null
      if ('ended' in followed) return this.#words.done(followed.runId, followed.ended)
      if ('gone' in followed) return this.#words.gone(followed.runId)
      this.#page = [...followed.events]
    }
    return this.#textOfPage()
  }

  /** Tells no more of this run, but that it is gone. */
  drop(runId: string): string {
    this.#logs.drop(runId)
    if (this.#page[0]?.runId === runId) this.#page = []
    return this.#words.gone(runId)
  }

  close(): void {
    this.#logs.close()
    this.#page = []
  }

  #textOfPage(): string {
    let text = ''
    let told = 0
    for (const event of this.#page) {
      text += this.#words.event(event)
      told += 1
      if (text.length > TEXT_MAX) break
    }
    this.#page.splice(0, told)
    return text
  }
}
