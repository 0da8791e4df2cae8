// LazyLogLines — the LogLineWriter, whose code is loaded with its first line (ADR 0009): most programs store no log lines.
import { lazyCode, once } from '../model/lazy.ts'
import type { LogRow } from '../model/log.ts'
import type { LogLineWriter, LogLineWriterDeps } from './log-line-writer.ts'

export const logLineWriter = lazyCode(() => import('./log-line-writer.ts'))

export class LazyLogLines {
  readonly #writer: () => LogLineWriter | Promise<LogLineWriter>
  readonly #report: (error: unknown) => void
  /** Resolves when the lines that came before the code are handed to it. */
  #handedOver: Promise<LogLineWriter | undefined> = Promise.resolve(undefined)

  constructor(deps: LogLineWriterDeps) {
    this.#writer = once(async () => new (await logLineWriter(deps.env)).LogLineWriter(deps))
    this.#report = deps.report
  }

  /** If the code cannot be loaded, the line is dropped and the error is reported; the next line tries again. */
  append(line: LogRow): void {
    const writer = this.#writer()
    if (!(writer instanceof Promise)) return writer.append(line)
    this.#handedOver = writer.then(
      (there) => {
        there.append(line)
        return there
      },
      (error) => {
        this.#report(error)
        return undefined
      },
    )
  }

  /** See `LogLineWriter`. */
  async drain(ms?: number): Promise<void> {
    const writer = await this.#handedOver
    await writer?.drain(ms)
  }
}
