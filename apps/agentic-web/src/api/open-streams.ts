import { HttpError } from './http-error.ts'

/** A page has one stream for each run that it watches; this is for a program that forgets to close them. */
const STREAMS_MAX = 100

/** The open event streams of this process, by user. When the server closes, it ends them all. */
export class OpenStreams {
  readonly closing = new AbortController()
  readonly #counts = new Map<string, number>()

  /** Returns what to call once when the stream has ended. */
  open(userId: string): () => void {
    const count = this.#counts.get(userId) ?? 0
    if (count >= STREAMS_MAX) throw new HttpError('too_many_streams', `at most ${STREAMS_MAX} event streams may be open at once; close one`)
    this.#counts.set(userId, count + 1)
    let isOpen = true
    return () => {
      if (isOpen) this.#counts.set(userId, (this.#counts.get(userId) ?? 1) - 1)
      isOpen = false
    }
  }
}
