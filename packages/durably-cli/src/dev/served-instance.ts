// ServedInstance — an instance and the handler that answers requests about it. The database stays open until each of them is answered.
import type { Durably } from '@coji/durably'
import { allowAll, type DurablyHandler, durablyHandler } from '@coji/durably/server'

export class ServedInstance {
  readonly durably: Durably
  readonly #handler: DurablyHandler
  readonly #unanswered = new Set<Promise<Response>>()

  constructor(durably: Durably) {
    this.durably = durably
    // Nobody but this machine reaches the server.
    this.#handler = durablyHandler(durably, { authorize: allowAll(), basePath: '/api', executes: false, exposeFailures: true })
  }

  async handle(request: Request): Promise<Response> {
    const response = this.#handler(request)
    this.#unanswered.add(response)
    try {
      return await response
    } finally {
      this.#unanswered.delete(response)
    }
  }

  /** Streams end at once, and their clients reconnect. */
  async close(): Promise<void> {
    this.#handler.close()
    await Promise.allSettled(this.#unanswered)
    await this.durably[Symbol.asyncDispose]()
  }
}
