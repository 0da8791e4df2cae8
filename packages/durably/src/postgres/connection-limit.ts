// ConnectionLimit — limits how many connections of a pool are in use, and decides who gets the next free one.
//   C1. Urgent calls, which keep runs alive, go ahead of all others that wait: a late heartbeat costs a lease.
//   C2. The other calls together use at most one connection less than there are, so an urgent call never waits for a long query.
//       Where there is only one connection, an urgent call is merely the first in the queue.
//   C3. No call waits for ever: a caller that holds a connection and waits for another one gets an error.
import { systemEnv, within } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'

type Grant = () => void

export class ConnectionLimit {
  readonly #max: number
  readonly #env = systemEnv()
  readonly #waitMs: number
  readonly #urgent: Grant[] = []
  readonly #others: Grant[] = []
  #held = 0
  #heldByOthers = 0

  constructor(max: number, waitMs: number) {
    this.#max = max
    this.#waitMs = waitMs
  }

  /** Resolves when a connection may be taken, with the function to call when it is given back. */
  async acquire(isUrgent: boolean): Promise<() => void> {
    if (!this.#hasRoom(isUrgent)) await this.#wait(isUrgent ? this.#urgent : this.#others)
    else this.#take(isUrgent)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#held--
      if (!isUrgent) this.#heldByOthers--
      this.#grantFree()
    }
  }

  #hasRoom(isUrgent: boolean): boolean {
    return this.#held < this.#max && (isUrgent || this.#heldByOthers < Math.max(1, this.#max - 1))
  }

  #take(isUrgent: boolean): void {
    this.#held++
    if (!isUrgent) this.#heldByOthers++
  }

  #grantFree(): void {
    for (const isUrgent of [true, false]) {
      const queue = isUrgent ? this.#urgent : this.#others
      while (queue.length > 0 && this.#hasRoom(isUrgent)) {
        this.#take(isUrgent)
        queue.shift()?.()
      }
    }
  }

  async #wait(queue: Grant[]): Promise<void> {
    let grant: Grant = () => {}
    const granted = new Promise<void>((resolve) => {
      grant = resolve
      queue.push(grant)
    })
    if (await within(this.#env, this.#waitMs, granted)) return
    const place = queue.indexOf(grant)
    // The connection was granted at the same moment.
    if (place < 0) return
    queue.splice(place, 1)
    throw new DurablyError(
      'store_unavailable',
      `no connection became free within ${this.#waitMs} ms: ${this.#held} of ${this.#max} are in use; raise max, or do not wait for another query inside a transaction`,
    )
  }
}
