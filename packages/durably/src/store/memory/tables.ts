// Tables — what the memory store holds.
// Owns the records and the orders they are found by. Does not decide which move is allowed.
//   M1. `records` is the truth; every order holds the very row objects of the records.
//   M2. A column that an order goes by changes only in here: status by `move`, the end of a lease by `renewLease`,
//       the due time of a run that is parked by `signalled`.
//   M3. Rows never leave and never enter: what comes in and goes out is a copy.
import { isStreamEvent } from '../../model/chunks.ts'
import { type Env, iso } from '../../model/env.ts'
import type { RecordedEvent } from '../../model/event.ts'
import type { LogRow } from '../../model/log.ts'
import { isTerminal, type RunRow, TERMINAL_STATUSES, type TerminalStatus } from '../../model/run.ts'
import { isFinal, type Move, TRANSITIONS } from '../../model/transitions.ts'
import { wakesByChild } from '../../model/wait.ts'
import { JobQueue } from './job-queue.ts'
import { RunRecord } from './run-record.ts'
import { SortedSet } from './sorted-set.ts'

interface Bounds {
  /** False: events are counted, not kept. */
  eventLog: boolean
  /** How many ended runs are kept. A run that must not be deleted stays, and counts. */
  endedMax: number
}

type KnownBy = Pick<RunRow, 'jobName' | 'idempotencyKey' | 'parentRunId' | 'parentStep'>

export class Tables {
  readonly records = new Map<string, RunRecord>()
  readonly byId = new SortedSet<RunRow>(byId)
  /** The running ones. */
  readonly leases = new SortedSet(byLeaseEnd)
  /** Those that have ended. */
  readonly ended: Record<TerminalStatus, SortedSet<RunRow>> = {
    completed: new SortedSet<RunRow>(byEnd),
    failed: new SortedSet<RunRow>(byEnd),
    cancelled: new SortedSet<RunRow>(byEnd),
  }
  nowMs = 0
  nowIso = iso(0)
  readonly #env: Pick<Env, 'wall'>
  readonly #bounds: Bounds
  #endedCount = 0
  readonly #queues = new Map<string, JobQueue>()
  /** By the keys that they hold. */
  readonly #holders = new Map<string, RunRow>()
  readonly #byToken = new Map<string, RunRow>()
  /** Of every run. */
  readonly #logIds = new Set<string>()
  /** By the run that triggered them. */
  readonly #children = new Map<string, Set<RunRow>>()
  /** Parent, then step. */
  readonly #ofStep = new Map<string, Map<string, RunRecord>>()
  /** Job, then idempotency key. */
  readonly #idempotent = new Map<string, Map<string, RunRecord>>()

  constructor(env: Pick<Env, 'wall'>, bounds: Bounds) {
    this.#env = env
    this.#bounds = bounds
  }

  /** Every verb has one time, whatever the clock does meanwhile. */
  begin(): void {
    const nowMs = this.#env.wall()
    if (nowMs !== this.nowMs) {
      this.nowMs = nowMs
      this.nowIso = iso(nowMs)
    }
  }

  heldUnder(token: string): RunRow | undefined {
    return this.#byToken.get(token)
  }

  heldTokens(): string[] {
    return [...this.#byToken.keys()]
  }

  childOf(parentRunId: string, step: string): RunRow | undefined {
    return this.#ofStep.get(parentRunId)?.get(step)?.row
  }

  holderOf(concurrencyKey: string): RunRow | undefined {
    return this.#holders.get(concurrencyKey)
  }

  queue(jobName: string): JobQueue | undefined {
    return this.#queues.get(jobName)
  }

  /** A run is known by its parent's step, then by its idempotency key. */
  knownAs({ jobName, idempotencyKey, parentRunId, parentStep }: KnownBy): RunRecord | undefined {
    const child = parentRunId === null || parentStep === null ? undefined : this.#ofStep.get(parentRunId)?.get(parentStep)
    return child ?? (idempotencyKey === null ? undefined : this.#idempotent.get(jobName)?.get(idempotencyKey))
  }

  insert(row: RunRow, events: readonly RecordedEvent[]): RunRecord {
    const record = new RunRecord(row)
    this.records.set(row.id, record)
    this.byId.add(row)
    if (row.idempotencyKey !== null) grow(this.#idempotent, row.jobName, () => new Map()).set(row.idempotencyKey, record)
    if (row.parentRunId !== null) {
      grow(this.#children, row.parentRunId, () => new Set()).add(row)
      if (row.parentStep !== null) grow(this.#ofStep, row.parentRunId, () => new Map()).set(row.parentStep, record)
    }
    this.#enter(row)
    this.appendEvents(record, events)
    return record
  }

  remove({ row, kept }: RunRecord): void {
    for (const { id } of kept.logs) this.#logIds.delete(id)
    this.#leave(row)
    this.records.delete(row.id)
    this.byId.delete(row)
    if (row.idempotencyKey !== null) this.#idempotent.get(row.jobName)?.delete(row.idempotencyKey)
    if (row.parentRunId !== null) this.#removeChild(row.parentRunId, row)
  }

  childrenOf(id: string): RunRow[] {
    return [...(this.#children.get(id) ?? [])]
  }

  /** Whether nobody needs a run that has ended any more (`DeleteOutcome`). */
  isDeletable({ id, status, parentRunId }: RunRow): boolean {
    return !this.#isAwaited(parentRunId) && !(status === 'cancelled' && this.childrenOf(id).some((child) => !isTerminal(child.status)))
  }

  #isAwaited(parentRunId: string | null): boolean {
    const parent = parentRunId === null ? undefined : this.records.get(parentRunId)
    return parent !== undefined && !isFinal(parent.row.status)
  }

  #removeChild(parentRunId: string, row: RunRow): void {
    const children = this.#children.get(parentRunId)
    children?.delete(row)
    if (row.parentStep !== null) this.#ofStep.get(parentRunId)?.delete(row.parentStep)
    if (children?.size !== 0) return
    this.#children.delete(parentRunId)
    this.#ofStep.delete(parentRunId)
  }

  /** A move and its events; that it is allowed was asked before. */
  move(record: RunRecord, move: Move, change: (row: RunRow) => void, events: readonly RecordedEvent[]): void {
    const { row } = record
    const { to } = TRANSITIONS[move]
    this.#leave(row)
    change(row)
    row.status = to
    row.version += 1
    row.updatedAt = this.nowIso
    row.finishedAt = isTerminal(to) ? this.nowMs : null
    if (to !== 'running') {
      row.leaseOwner = null
      row.leaseExpiresAt = null
    }
    this.#enter(row)
    this.appendEvents(record, events)
    if (isTerminal(to)) this.#wakeParent(row)
    while (this.#endedCount > this.#bounds.endedMax && this.#removeOldest());
  }

  /** Runs that could not be deleted because of it may be deletable after it. */
  #removeOldest(): boolean {
    let oldest: RunRow | undefined
    for (const status of TERMINAL_STATUSES) {
      const row = this.#firstDeletable(this.ended[status])
      if (row && (!oldest || byEnd(row, oldest) < 0)) oldest = row
    }
    const record = oldest && this.records.get(oldest.id)
    if (record) this.remove(record)
    return record !== undefined
  }

  #firstDeletable(ended: SortedSet<RunRow>): RunRow | undefined {
    const first = ended.first()
    if (!first || this.isDeletable(first)) return first
    for (const row of ended.ascending()) if (this.isDeletable(row)) return row
  }

  /** Counts the end of a child as a signal, and makes the parent due if that is what it waits for. */
  #wakeParent({ parentRunId }: RunRow): void {
    const parent = parentRunId === null ? undefined : this.records.get(parentRunId)
    if (parent && !isTerminal(parent.row.status)) this.signalled(parent, wakesByChild(parent.row))
  }

  renewLease(row: RunRow, leaseMs: number): void {
    this.leases.delete(row)
    row.leaseExpiresAt = this.nowMs + leaseMs
    row.heartbeatAt = this.nowIso
    row.updatedAt = row.heartbeatAt
    this.leases.add(row)
  }

  appendEvents(record: RunRecord, events: readonly RecordedEvent[]): void {
    const { row } = record
    for (const { type, payload, createdAt } of events) {
      row.lastEventSequence += 1
      if (!this.#bounds.eventLog) continue
      record.own.events.push({ runId: row.id, seq: row.lastEventSequence, type, payload: JSON.stringify(payload), createdAt })
    }
  }

  /** When the run, or the one that triggered it, was asked to stop. */
  cancelOf({ cancelRequestedAt, parentRunId }: RunRow): number | null {
    return cancelRequestedAt ?? (parentRunId === null ? null : (this.records.get(parentRunId)?.row.cancelRequestedAt ?? null))
  }

  /** `wakes`: it is parked for this one, so it is due at once. */
  signalled({ row }: RunRecord, wakes: boolean): void {
    row.signals += 1
    if (!wakes || row.runAt <= this.nowMs) return
    this.#leave(row)
    row.runAt = this.nowMs
    this.#enter(row)
  }

  /** Deletes the events of a stream so far. */
  forgetStream({ own }: RunRecord, stepName: string): void {
    own.events = own.events.filter(({ type, payload }) => !(isStreamEvent(type) && JSON.parse(payload).stepName === stepName))
  }

  /** A line whose id is known, whichever run it belongs to, is left out. */
  log(record: RunRecord, lines: readonly LogRow[]): void {
    for (const line of lines) {
      if (this.#logIds.has(line.id)) continue
      this.#logIds.add(line.id)
      record.own.logs.push({ ...line })
    }
  }

  #enter(row: RunRow): void {
    if (row.status === 'pending') grow(this.#queues, row.jobName, () => new JobQueue((key) => this.#holders.has(key))).add(row)
    if (row.status === 'running') {
      this.leases.add(row)
      if (row.leaseOwner !== null) this.#byToken.set(row.leaseOwner, row)
      if (row.concurrencyKey !== null) this.#hold(row.concurrencyKey, row)
    }
    if (isTerminal(row.status)) {
      this.ended[row.status].add(row)
      this.#endedCount++
    }
  }

  #leave(row: RunRow): void {
    if (row.status === 'pending') this.#queues.get(row.jobName)?.remove(row)
    if (row.status === 'running') {
      this.leases.delete(row)
      if (row.leaseOwner !== null) this.#byToken.delete(row.leaseOwner)
      if (row.concurrencyKey !== null) this.#free(row.concurrencyKey)
    }
    if (isTerminal(row.status)) {
      this.ended[row.status].delete(row)
      this.#endedCount--
    }
  }

  #hold(key: string, row: RunRow): void {
    this.#holders.set(key, row)
    for (const queue of this.#queues.values()) queue.keyTaken(key)
  }

  #free(key: string): void {
    this.#holders.delete(key)
    for (const queue of this.#queues.values()) queue.keyFreed(key)
  }
}

function grow<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

/** Oldest first; a list reads it backwards. */
export function byId(a: Pick<RunRow, 'id'>, b: Pick<RunRow, 'id'>): number {
  return compareText(a.id, b.id)
}

export function byLeaseEnd(a: RunRow, b: RunRow): number {
  return leaseEnd(a) - leaseEnd(b) || compareText(a.id, b.id)
}

/** Oldest first. Only rows that have ended are compared. */
export function byEnd(a: Ended, b: Ended): number {
  return endOf(a) - endOf(b) || compareText(a.id, b.id)
}

type Ended = Pick<RunRow, 'id' | 'finishedAt'>

export function endOf(row: Ended): number {
  return row.finishedAt ?? 0
}

/** Only running rows are compared, and those have a lease. */
export function leaseEnd(row: RunRow): number {
  return row.leaseExpiresAt ?? 0
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
