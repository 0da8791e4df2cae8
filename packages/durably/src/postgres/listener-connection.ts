// ListenerConnection — one connection that listens, from its opening to its end.
//   C1. It ends once, whatever ended it. `ended` resolves to the reason, and never rejects.
//   C2. It has an error listener from before it opens until after it has ended: an `error` event without a listener ends the process.
//   C3. `pg` never settles `connect()` of a client that was ended meanwhile, so no caller awaits `connect()` alone.
import { type Env, within } from '../model/env.ts'
import { letExit } from './let-exit.ts'
import type { ListenClient } from './listen-client.ts'

/** How long to wait for the server to close the connection in good order. */
const CLOSE_MS_MAX = 500

export class ListenerConnection {
  readonly ended: Promise<Error>
  readonly #client: ListenClient
  readonly #channel: string
  #end: (why: Error) => void = () => {}
  #isOpen = false

  constructor(client: ListenClient, channel: string, receive: (payload: string) => void) {
    this.ended = new Promise((resolve) => {
      this.#end = resolve
    })
    this.#client = client
    this.#channel = channel
    client.on('error', (error) => this.#end(error))
    client.on('end', () => this.#end(new Error('the connection has ended')))
    client.on('notification', ({ channel: from, payload }) => {
      if (from === channel && payload) receive(payload)
    })
  }

  async open(): Promise<void> {
    await this.whileOpen(this.#client.connect())
    await this.whileOpen(this.#client.query({ text: `LISTEN "${this.#channel.replaceAll('"', '""')}"`, values: [] }))
    letExit(this.#client)
    this.#isOpen = true
  }

  /** Rejects when the connection ends before `done` settles. Not for every message: each call stays in memory until the end. */
  whileOpen<T>(done: Promise<T>): Promise<T> {
    const lost = this.ended.then((why) => Promise.reject(why))
    return Promise.race([done, lost])
  }

  async send(payload: string): Promise<void> {
    await this.#client.query({ text: 'SELECT pg_notify($1, $2)', values: [this.#channel, payload] })
  }

  async close(env: Env, why = new Error('the connection was closed')): Promise<void> {
    this.#end(why)
    const gone = this.#client.end().catch(() => {})
    if (this.#isOpen) await within(env, CLOSE_MS_MAX, gone)
    this.#client.connection?.stream?.destroy?.()
  }
}
