// One connection that listens, from its opening to its end.
//   C1. It ends once, whoever ended it. `ended` says why, and never rejects.
//   C2. Its errors are heard from before it opens until after it has ended: one that nobody hears would end the process.
//   C3. `pg` never answers the opening of a connection that it was told to end, so nobody waits for that alone.
import { type Env, within } from '../model/env.ts'
import { letExit } from './let-exit.ts'
import type { ListenClient } from './listen-client.ts'

/** A server that does not say goodbye is left without one. */
const GOODBYE_MS_MAX = 500

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

  /** Rejects when the connection ends before `done` does. Not for every message: each use is remembered until the end. */
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
    if (this.#isOpen) await within(env, GOODBYE_MS_MAX, gone)
    this.#client.connection?.stream?.destroy?.()
  }
}
