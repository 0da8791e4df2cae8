// Sender — tells the others what has gathered.
//   E1. The first news go out at once, later ones at most once per gap, in one message; one is under way at a time.
//   E2. What cannot be sent waits, and does not grow: the outbox holds one message. If it is unknown whether a message has
//       arrived, the next one says that anything may have changed.
//   E3. A connection that did not take a message is not used again.
import type { Env, TimerHandle } from '../model/env.ts'
import type { News } from '../store/notifier.ts'
import { changeMessage } from './change-message.ts'
import type { ListenerConnection } from './listener-connection.ts'
import { Outbox } from './outbox.ts'

/** Short for whoever waits, long against what a message costs. */
const GAP_MS = 50

type Line = Pick<ListenerConnection, 'send' | 'close'>

export class Sender {
  readonly #env: Env
  readonly #name: string
  readonly #outbox = new Outbox()
  #connection: Line | null = null
  #sending: Promise<void> = Promise.resolve()
  #isDue = false
  #timer: TimerHandle
  #sentAt = Number.NEGATIVE_INFINITY

  constructor(env: Env, name: string) {
    this.#env = env
    this.#name = name
  }

  add(news: News): void {
    this.#outbox.add(news)
    this.#schedule()
  }

  /** Null while there is none. */
  use(connection: Line | null): void {
    this.#connection = connection
    this.#schedule()
  }

  /** Sends what has gathered without waiting for the gap. */
  flush(): Promise<void> {
    this.#env.clear(this.#timer)
    this.#sending = this.#sending.then(() => this.#send())
    return this.#sending
  }

  #schedule(): void {
    if (this.#isDue || !this.#connection || this.#outbox.isEmpty) return
    this.#isDue = true
    const flush = () => void this.flush()
    const wait = this.#sentAt + GAP_MS - this.#env.mono()
    if (wait > 0) this.#timer = this.#env.timer(wait, flush)
    else this.#env.defer(flush)
  }

  async #send(): Promise<void> {
    const connection = this.#connection
    if (connection && !this.#outbox.isEmpty) {
      this.#sentAt = this.#env.mono()
      await connection.send(changeMessage(this.#name, this.#outbox.take())).catch((error) => this.#failed(connection, error))
    }
    this.#isDue = false
    this.#schedule()
  }

  #failed(connection: Line, error: Error): void {
    if (this.#connection === connection) this.#connection = null
    this.#outbox.add({ type: 'anything' })
    void connection.close(this.#env, error)
  }
}
