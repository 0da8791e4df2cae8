// ConnectionLimit — stands before a pool, so that the order in which its connections are given is ours.
//   G1. What keeps runs alive goes ahead of everything else that waits: a heartbeat that comes late costs a lease.
//   G2. Everything else holds one connection less than there are, so that it never waits for a long query of somebody else either.
//       Where there is only one, being ahead in the queue is all that can be had.
//   G3. Nobody waits for ever: who holds a connection and waits for another one hears of it.
import { systemEnv, within } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'

type Enter = () => void

export class ConnectionLimit {
  readonly #max: number
  readonly #env = systemEnv()
  readonly #waitMs: number
  readonly #urgent: Enter[] = []
  readonly #others: Enter[] = []
  #held = 0
  #heldByOthers = 0

  constructor(max: number, waitMs: number) {
    this.#max = max
    this.#waitMs = waitMs
  }

  /** Resolves when a connection may be taken; who took it calls the answer when it gives it back. */
  async acquire(isUrgent: boolean): Promise<() => void> {
    if (!this.#hasRoom(isUrgent)) await this.#wait(isUrgent ? this.#urgent : this.#others)
    else this.#take(isUrgent)
    let isInside = true
    return () => {
      if (!isInside) return
      isInside = false
      this.#held--
      if (!isUrgent) this.#heldByOthers--
      this.#letIn()
    }
  }

  #hasRoom(isUrgent: boolean): boolean {
    return this.#held < this.#max && (isUrgent || this.#heldByOthers < Math.max(1, this.#max - 1))
  }

  #take(isUrgent: boolean): void {
    this.#held++
    if (!isUrgent) this.#heldByOthers++
  }

  #letIn(): void {
    for (const isUrgent of [true, false]) {
      const queue = isUrgent ? this.#urgent : this.#others
      while (queue.length > 0 && this.#hasRoom(isUrgent)) {
        this.#take(isUrgent)
        queue.shift()?.()
      }
    }
  }

  async #wait(queue: Enter[]): Promise<void> {
    let enter: Enter = () => {}
    const entered = new Promise<void>((resolve) => {
      enter = resolve
      queue.push(enter)
    })
    if (await within(this.#env, this.#waitMs, entered)) return
    const place = queue.indexOf(enter)
    // Let in while the timer fired.
    if (place < 0) return
    queue.splice(place, 1)
    throw new DurablyError(
      'store_unavailable',
      `no connection became free within ${this.#waitMs} ms: ${this.#held} of ${this.#max} are in use; raise max, or do not wait for another query inside a transaction`,
    )
  }
}
