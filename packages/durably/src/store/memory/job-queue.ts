// JobQueue — the pending runs of one job, in their turn: by `runAt`, then by id.
// Owns the order, and one line per concurrency key. Does not hold keys: it is told when one is taken or free.
//   Q1. `#ready` holds the runs without a key and, of each free key, the first in its line.
//       So the first that is ready is the one to claim, however many wait for a key.
import type { RunRow } from '../../model/run.ts'
import { SortedSet } from './sorted-set.ts'

export class JobQueue {
  readonly #isHeld: (key: string) => boolean
  readonly #all = new SortedSet(byTurn)
  readonly #ready = new SortedSet(byTurn)
  /** No line is empty. */
  readonly #lines = new Map<string, SortedSet<RunRow>>()

  constructor(isHeld: (key: string) => boolean) {
    this.#isHeld = isHeld
  }

  add(run: RunRow): void {
    this.#all.add(run)
    if (run.concurrencyKey === null) this.#ready.add(run)
    else this.#changeLine(run.concurrencyKey, (line) => line.add(run))
  }

  remove(run: RunRow): void {
    this.#all.delete(run)
    if (run.concurrencyKey === null) this.#ready.delete(run)
    else this.#changeLine(run.concurrencyKey, (line) => line.delete(run))
  }

  keyTaken(key: string): void {
    const first = this.#lines.get(key)?.first()
    if (first) this.#ready.delete(first)
  }

  keyFreed(key: string): void {
    const first = this.#lines.get(key)?.first()
    if (first) this.#ready.add(first)
  }

  firstClaimable(nowMs: number): RunRow | undefined {
    const first = this.#ready.first()
    return first && first.runAt <= nowMs ? first : undefined
  }

  hasDue(nowMs: number): boolean {
    const first = this.#all.first()
    return first !== undefined && first.runAt <= nowMs
  }

  nextRunAt(nowMs: number): number | undefined {
    return this.#all.firstPast((run) => run.runAt > nowMs)?.runAt
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
