// Sender — sends changes to the other processes.
//   E1. The first change is sent at once; later ones are collected and sent as one message per gap. One message is under way at a time.
//   E2. Changes that cannot be sent wait, in an outbox that never holds more than one message. If it is unknown whether a message has
//       arrived, the next one says that anything may have changed.
//   E3. A connection that failed to send a message is not used again.
import type { Env, TimerHandle } from '../model/env.ts'
import type { Change } from '../store/notifier.ts'
import { changeMessage } from './change-message.ts'
import type { ListenerConnection } from './listener-connection.ts'
import { Outbox } from './outbox.ts'

/** Short for a process that waits, long compared with the cost of a message. */
const GAP_MS = 50

type Connection = Pick<ListenerConnection, 'send' | 'close'>

export class Sender {
  readonly #env: Env
  readonly #name: string
  readonly #outbox = new Outbox()
  #connection: Connection | null = null
  #sending: Promise<void> = Promise.resolve()
  #isDue = false
  #timer: TimerHandle
  #sentAt = Number.NEGATIVE_INFINITY

  constructor(env: Env, name: string) {
    this.#env = env
    this.#name = name
  }

  add(change: Change): void {
    this.#outbox.add(change)
    this.#schedule()
  }

  /** Null while there is none. */
  use(connection: Connection | null): void {
    this.#connection = connection
    this.#schedule()
  }

  /** Sends the collected changes without waiting for the gap. */
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

  #failed(connection: Connection, error: Error): void {
    if (this.#connection === connection) this.#connection = null
    this.#outbox.add({ type: 'anything' })
    void connection.close(this.#env, error)
  }
}
