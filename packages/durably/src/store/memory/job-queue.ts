// JobQueue — the pending runs of one job, in their turn: by `runAt`, then by id.
// Owns the order, and one queue per concurrency key. Does not know who holds a key: `keyTaken` and `keyFreed` are called when that changes.
//   Q1. `#ready` holds the runs without a key, those that hold their key and, of each free key, the first in its queue; `#behind` holds all others.
//       So the first that is ready is the one to claim, however many wait for a key.
import { holdsKey } from '../../model/key-in-use.ts'
import type { RunRow } from '../../model/run.ts'
import type { RunRecord } from './run-record.ts'
import { SortedSet } from './sorted-set.ts'

export class JobQueue {
  readonly #isHeld: (key: string) => boolean
  readonly #ready = new SortedSet(byTurnOfRow)
  readonly #behind = new SortedSet(byTurnOfRow)
  /** The runs that wait for each key. None of these queues is empty. */
  readonly #byKey = new Map<string, SortedSet<RunRecord>>()

  constructor(isHeld: (key: string) => boolean) {
    this.#isHeld = isHeld
  }

  add(record: RunRecord): void {
    const { row } = record
    if (row.concurrencyKey === null || holdsKey(row)) return this.#ready.add(record)
    this.#changeQueue(row.concurrencyKey, (queue) => {
      queue.add(record)
      this.#behind.add(record)
    })
  }

  remove(record: RunRecord): void {
    const { row } = record
    if (row.concurrencyKey === null || holdsKey(row)) return void this.#ready.delete(record)
    this.#changeQueue(row.concurrencyKey, (queue) => {
      queue.delete(record)
      this.#behind.delete(record)
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

  firstClaimable(nowMs: number): RunRecord | undefined {
    const first = this.#ready.first()
    return first && first.row.runAt <= nowMs ? first : undefined
  }

  /** Those that can be claimed, in their turn. */
  *claimable(nowMs: number): Iterable<RunRecord> {
    for (const record of this.#ready.ascending()) {
      if (record.row.runAt > nowMs) return
      yield record
    }
  }

  /** All of them, in no order. */
  *pending(): Iterable<RunRow> {
    for (const { row } of this.#ready.ascending()) yield row
    for (const { row } of this.#behind.ascending()) yield row
  }

  hasDue(nowMs: number): boolean {
    return this.firstDue(nowMs) !== undefined
  }

  /** The first run that is due, even if its key is held. */
  firstDue(nowMs: number): RunRow | undefined {
    const a = this.#ready.first()?.row
    const b = this.#behind.first()?.row
    const first = a && b ? (byTurn(a, b) < 0 ? a : b) : (a ?? b)
    return first === undefined || first.runAt > nowMs ? undefined : first
  }

  /** When the next one falls due, of those that are not due yet. */
  nextRunAt(nowMs: number): number | undefined {
    const isLater = ({ row }: RunRecord) => row.runAt > nowMs
    const a = this.#ready.firstPast(isLater)?.row
    const b = this.#behind.firstPast(isLater)?.row
    return a && b ? Math.min(a.runAt, b.runAt) : (a ?? b)?.runAt
  }

  /** Changes the queue of a key, after which another run may be its first. */
  #changeQueue(key: string, change: (queue: SortedSet<RunRecord>) => void): void {
    const queue = this.#byKey.get(key) ?? new SortedSet(byTurnOfRow)
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

function byTurnOfRow(a: RunRecord, b: RunRecord): number {
  return byTurn(a.row, b.row)
}
