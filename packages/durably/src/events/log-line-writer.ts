// LogLineWriter — stores log lines that cannot be attached to an owner write: of runs that wait, have ended or execute elsewhere.
//   L1. The caller of `append` never waits, and nothing rejects unhandled.
//   L2. Lines of one turn go in one transaction. After a transient error it is tried again, ATTEMPTS_MAX times; then the error is reported
//       and the lines are dropped.
//   L3. `drain` waits for the lines before a stop, but not for a store that does not answer.
import { backoffMs } from '../model/backoff.ts'
import { type Env, nextTurn, sleep, within } from '../model/env.ts'
import { DurablyError, isPassing } from '../model/errors.ts'
import type { LogRow } from '../model/log.ts'
import type { LogStore } from '../store/logs.ts'

const ATTEMPTS_MAX = 8
/** Limits the memory of a process that goes on logging while the database is unavailable. */
const WAITING_MAX = 10_000

/** All attempts and the pauses between them take less, if the store answers. */
const DRAIN_MS_MAX = 10_000
/** Even a stop that has no time left waits this long, which is enough for a store that answers. */
const DRAIN_MS_MIN = 500

export interface LogLineWriterDeps {
  logs: LogStore
  env: Env
  report: (error: unknown) => void
}

export class LogLineWriter {
  readonly #deps: LogLineWriterDeps
  #waiting: LogRow[] = []
  #writing: Promise<void> | null = null
  #dropping = false

  constructor(deps: LogLineWriterDeps) {
    this.#deps = deps
  }

  append(line: LogRow): void {
    if (this.#waiting.length >= WAITING_MAX) return this.#drop()
    this.#waiting.push(line)
    this.#writing ??= this.#writeAll()
  }

  /** Reports once, until lines are accepted again. */
  #drop(): void {
    if (this.#dropping) return
    this.#dropping = true
    this.#deps.report(
      new DurablyError('store_unavailable', `more than ${WAITING_MAX} log lines wait for the store; further ones are dropped`),
    )
  }

  /** Resolves when everything handed over so far is stored or given up, or when the store let it wait for too long (L3). */
  async drain(ms = DRAIN_MS_MAX): Promise<void> {
    const { env, report } = this.#deps
    const patience = Math.min(Math.max(ms, DRAIN_MS_MIN), DRAIN_MS_MAX)
    if (this.#writing === null || (await within(env, patience, this.#writing))) return
    report(new DurablyError('store_unavailable', `the store took no log lines for ${patience} ms; the last ones may be lost`))
  }

  async #writeAll(): Promise<void> {
    await nextTurn(this.#deps.env)
    while (this.#waiting.length > 0) {
      const lines = this.#waiting
      this.#waiting = []
      this.#dropping = false
      await this.#write(lines)
    }
    // In the same turn as the last check of `#waiting`: a line that is appended after it starts a new loop.
    this.#writing = null
  }

  async #write(lines: LogRow[]): Promise<void> {
    const { logs, env, report } = this.#deps
    for (let attempt = 1; ; attempt++) {
      try {
        return await logs.append(lines)
      } catch (error) {
        if (!isPassing(error) || attempt === ATTEMPTS_MAX) return report(error)
        await sleep(env, backoffMs(env, attempt))
      }
    }
  }
}
