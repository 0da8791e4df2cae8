// JobQueue — the pending runs of one job, in their turn: by `runAt`, then by id.
// Owns the order, and one line per concurrency key. Does not hold keys: `keyTaken` and `keyFreed` are called when that changes.
//   Q1. `#ready` holds the runs without a key and, of each free key, the first in its line; `#behind` holds all others.
//       So the first that is ready is the one to claim, however many wait for a key.
import type { RunRow } from '../../model/run.ts'
import { SortedSet } from './sorted-set.ts'

export class JobQueue {
  readonly #isHeld: (key: string) => boolean
  readonly #ready = new SortedSet(byTurn)
  readonly #behind = new SortedSet(byTurn)
  /** No line is empty. */
  readonly #lines = new Map<string, SortedSet<RunRow>>()

  constructor(isHeld: (key: string) => boolean) {
    this.#isHeld = isHeld
  }

  add(run: RunRow): void {
    if (run.concurrencyKey === null) return this.#ready.add(run)
    this.#changeLine(run.concurrencyKey, (line) => {
      line.add(run)
      this.#behind.add(run)
    })
  }

  remove(run: RunRow): void {
    if (run.concurrencyKey === null) return void this.#ready.delete(run)
    this.#changeLine(run.concurrencyKey, (line) => {
      line.delete(run)
      this.#behind.delete(run)
    })
  }

  keyTaken(key: string): void {
    const first = this.#lines.get(key)?.first()
    if (first && this.#ready.delete(first)) this.#behind.add(first)
  }

  keyFreed(key: string): void {
    const first = this.#lines.get(key)?.first()
    if (first && this.#behind.delete(first)) this.#ready.add(first)
  }

  firstClaimable(nowMs: number): RunRow | undefined {
    const first = this.#ready.first()
    return first && first.runAt <= nowMs ? first : undefined
  }

  hasDue(nowMs: number): boolean {
    return this.firstDue(nowMs) !== undefined
  }

  /** Its key may be held. */
  firstDue(nowMs: number): RunRow | undefined {
    const [a, b] = [this.#ready.first(), this.#behind.first()]
    const first = a && b ? (byTurn(a, b) < 0 ? a : b) : (a ?? b)
    return first === undefined || first.runAt > nowMs ? undefined : first
  }

  /** When the next one falls due, of those that are not due yet. */
  nextRunAt(nowMs: number): number | undefined {
    const isLater = (run: RunRow) => run.runAt > nowMs
    const [a, b] = [this.#ready.firstPast(isLater), this.#behind.firstPast(isLater)]
    return a && b ? Math.min(a.runAt, b.runAt) : (a ?? b)?.runAt
  }

  /** The first in line may be another one afterwards. */
  #changeLine(key: string, change: (line: SortedSet<RunRow>) => void): void {
    const line = this.#lines.get(key) ?? new SortedSet(byTurn)
    this.keyTaken(key)
    change(line)
    if (line.first()) this.#lines.set(key, line)
    else this.#lines.delete(key)
    if (!this.#isHeld(key)) this.keyFreed(key)
  }
}

export function byTurn(a: RunRow, b: RunRow): number {
  return a.runAt - b.runAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}
