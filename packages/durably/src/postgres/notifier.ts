// PostgresNotifier — LISTEN and NOTIFY on a connection beside the pool.
//   P1. It listens on one connection at a time. When that one ends it opens another, after pauses that grow while it fails.
//   P2. It sends and receives as soon as it listens; the self-test only decides whether the connection is kept.
//   P3. Once the self-test has passed, no message is missed. Earlier ones may have been, so it then reports that anything may have changed.
//   P4. Once it listens it does not keep the process alive, neither by the connection nor by the pause before the next.
import { within } from '../model/env.ts'
import { DurablyError, hasCode } from '../model/errors.ts'
import type { Change, Notifier, NotifierDeps } from '../store/notifier.ts'
import { readMessage } from './change-message.ts'
import type { MakeListenClient } from './listen-client.ts'
import { ListenerConnection } from './listener-connection.ts'
import type { PostgresPool } from './pool.ts'
import { ReconnectPause } from './reconnect-pause.ts'
import { SelfTest } from './self-test.ts'
import { Sender } from './sender.ts'

/** How long a process that ends waits for its last message to be sent. */
const FLUSH_MS_MAX = 1000

export interface PostgresNotifierDeps extends NotifierDeps {
  makeClient: MakeListenClient
  /** The pool or the URL of the store. */
  place: string | PostgresPool
}

export class PostgresNotifier implements Notifier {
  readonly #deps: PostgresNotifierDeps
  readonly #name: string
  readonly #sender: Sender
  readonly #test: SelfTest
  readonly #pause: ReconnectPause
  readonly #stopped: Promise<void>
  #connection: ListenerConnection | null = null
  #isReported = false
  #isClosed = false
  #closed: Promise<void> | null = null

  constructor(deps: PostgresNotifierDeps) {
    this.#deps = deps
    this.#name = deps.env.id()
    this.#sender = new Sender(deps.env, this.#name)
    this.#test = new SelfTest({ ...deps, name: this.#name })
    this.#pause = new ReconnectPause(deps.env)
    this.#stopped = this.#keepListening()
  }

  notify(change: Change): void {
    this.#sender.add(change)
  }

  async flush(): Promise<void> {
    await within(this.#deps.env, FLUSH_MS_MAX, this.#sender.flush())
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    await this.flush()
    this.#isClosed = true
    this.#pause.cutShort()
    await this.#connection?.close(this.#deps.env)
    await this.#stopped
  }

  async #keepListening(): Promise<void> {
    while (!this.#isClosed) {
      await this.#listen().catch((error) => this.#failed(error))
      if (!this.#isClosed) await this.#pause.wait()
    }
  }

  async #listen(): Promise<void> {
    const { env, channel, makeClient } = this.#deps
    const connection = new ListenerConnection(await makeClient(), channel, (payload) => this.#receive(payload))
    if (this.#isClosed) return
    this.#connection = connection
    try {
      await connection.open()
      this.#sender.use(connection)
      await connection.whileOpen(this.#test.run())
      this.#pause.succeeded()
      this.#isReported = false
      this.#deliver({ type: 'anything' })
      await connection.ended
    } finally {
      this.#sender.use(null)
      this.#connection = null
      await connection.close(env)
    }
  }

  #receive(payload: string): void {
    const message = readMessage(payload)
    if (!message) return
    if (message.from !== this.#name) for (const change of message.changes) this.#deliver(change)
    else if (message.probe !== null) this.#test.receive(message.probe)
  }

  /** Runs inside an event of the socket, where an error that is thrown would end the process. */
  #deliver(change: Change): void {
    const { onChange, report } = this.#deps
    if (this.#isClosed) return
    try {
      onChange(change)
    } catch (error) {
      report(error)
    }
  }

  #failed(cause: unknown): void {
    const isTested = hasCode(cause, 'notifications_unavailable')
    this.#pause.failed({ isLasting: isTested })
    if (this.#isReported || this.#isClosed) return
    this.#isReported = true
    this.#deps.report(isTested ? cause : unreachable(cause))
  }
}

function unreachable(cause: unknown): DurablyError {
  const why = cause instanceof Error ? cause.message || cause.name : String(cause)
  const message = `there are no notifications, because the connection for them failed: ${why}. It is tried again. Polling goes on`
  return new DurablyError('notifications_unavailable', message, { cause })
}
