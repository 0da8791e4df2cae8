// RepeatedRead — an answer that is asked for again every few seconds while it is shown.
import { repeatedly } from './clock.ts'
import { errorText } from './error-text.ts'

export class RepeatedRead<T> {
  answer: T | null = null
  error: string | null = null

  readonly #ask: () => Promise<T>
  readonly #everyMs: number
  readonly #changed: () => void
  readonly #ended = new AbortController()

  constructor(ask: () => Promise<T>, everyMs: number, changed: () => void) {
    this.#ask = ask
    this.#everyMs = everyMs
    this.#changed = changed
  }

  async start(): Promise<void> {
    await this.read()
    await repeatedly(
      () => this.#everyMs,
      this.#ended.signal,
      () => this.read(),
    )
  }

  stop(): void {
    this.#ended.abort()
  }

  async read(): Promise<void> {
    try {
      this.answer = await this.#ask()
      this.error = null
    } catch (error) {
      this.error = errorText(error)
    }
    if (!this.#ended.signal.aborted) this.#changed()
  }
}
