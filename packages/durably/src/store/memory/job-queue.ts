// JobQueue — the pending runs of one job, in their turn: by `runAt`, then by id.
// Owns the order, and one queue per concurrency key. Does not know who holds a key: `keyTaken` and `keyFreed` are called when that changes.
//   Q1. `#ready` holds the runs without a key, those that hold their key and, of each free key, the first in its queue; `#behind` holds all others.
//       So the first that is ready is the one to claim, however many wait for a key.
import { holdsKey } from '../../model/key-in-use.ts'
import type { RunRow } from '../../model/run.ts'
import { SortedSet } from './sorted-set.ts'

export class JobQueue {
  readonly #isHeld: (key: string) => boolean
  readonly #ready = new SortedSet(byTurn)
  readonly #behind = new SortedSet(byTurn)
  /** The runs that wait for each key. None of these queues is empty. */
  readonly #byKey = new Map<string, SortedSet<RunRow>>()

  constructor(isHeld: (key: string) => boolean) {
    this.#isHeld = isHeld
  }

  add(run: RunRow): void {
    if (run.concurrencyKey === null || holdsKey(run)) return this.#ready.add(run)
    this.#changeQueue(run.concurrencyKey, (queue) => {
      queue.add(run)
      this.#behind.add(run)
    })
  }

  remove(run: RunRow): void {
    if (run.concurrencyKey === null || holdsKey(run)) return void this.#ready.delete(run)
    this.#changeQueue(run.concurrencyKey, (queue) => {
      queue.delete(run)
      this.#behind.delete(run)
    })
  }

  keyTaken(key: string): void {
    const first = this.#byKey.get(key)?.first()
    if (first && this.#ready.delete(first)) this.#behind.add(first)
  }

  keyFreed(key: string): void {
    const first = this.#byKey.get(key)?.first()
    if (first && this.#behind.delete(first)) this.#ready.add(first)
  }

  firstClaimable(nowMs: number): RunRow | undefined {
    const first = this.#ready.first()
    return first && first.runAt <= nowMs ? first : undefined
  }

  /** Those that can be claimed, in their turn. */
  *claimable(nowMs: number): Iterable<RunRow> {
    for (const run of this.#ready.ascending()) {
      if (run.runAt > nowMs) return
      yield run
    }
  }

  /** All of them, in no order. */
  *pending(): Iterable<RunRow> {
    yield* this.#ready.ascending()
    yield* this.#behind.ascending()
  }

  hasDue(nowMs: number): boolean {
    return this.firstDue(nowMs) !== undefined
  }

  /** The first run that is due, even if its key is held. */
  firstDue(nowMs: number): RunRow | undefined {
    const a = this.#ready.first()
    const b = this.#behind.first()
    const first = a && b ? (byTurn(a, b) < 0 ? a : b) : (a ?? b)
    return first === undefined || first.runAt > nowMs ? undefined : first
  }

  /** When the next one falls due, of those that are not due yet. */
  nextRunAt(nowMs: number): number | undefined {
    const isLater = (run: RunRow) => run.runAt > nowMs
    const a = this.#ready.firstPast(isLater)
    const b = this.#behind.firstPast(isLater)
    return a && b ? Math.min(a.runAt, b.runAt) : (a ?? b)?.runAt
  }

  /** Changes the queue of a key, after which another run may be its first. */
  #changeQueue(key: string, change: (queue: SortedSet<RunRow>) => void): void {
    const queue = this.#byKey.get(key) ?? new SortedSet(byTurn)
    this.keyTaken(key)
    change(queue)
    if (queue.first()) this.#byKey.set(key, queue)
    else this.#byKey.delete(key)
    if (!this.#isHeld(key)) this.keyFreed(key)
  }
}

export function byTurn(a: RunRow, b: RunRow): number {
  return a.runAt - b.runAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}
