// Tables — what the memory store holds.
// Owns the records and the orders they are found by. Does not decide which move is allowed.
//   M1. `records` is the truth; every order holds the very row objects of the records.
//   M2. A column that an order goes by changes only in here: status by `move`, the end of a lease by `renewLease`,
//       the due time of a run that is parked by `signalled`.
//   M3. No caller ever has a row object of the store: what comes in and what goes out are copies.
import { isStreamEvent } from '../../model/chunks.ts'
import { type Env, iso } from '../../model/env.ts'
import type { RecordedEvent } from '../../model/event.ts'
import { keyInUse } from '../../model/key-in-use.ts'
import type { LogRow } from '../../model/log.ts'
import { isTerminal, type RunRow, TERMINAL_STATUSES, type TerminalStatus } from '../../model/run.ts'
import type { ScheduleRow } from '../../model/schedule.ts'
import { isFinal, type Move, TRANSITIONS } from '../../model/transitions.ts'
import { wakesByChild } from '../../model/wait.ts'
import type { AuditRow } from '../cluster/audit.ts'
import type { DefinitionRow } from '../cluster/definitions.ts'
import type { Leader, LeadRequest } from '../cluster/leaders.ts'
import type { SettingsRow } from '../cluster/settings.ts'
import type { WorkerEntry, WorkerState } from '../cluster/workers.ts'
import type { Claim } from '../owner-write.ts'
import { grow } from './grow.ts'
import type { InboxRow } from './inbox.ts'
import { JobQueue } from './job-queue.ts'
import { KnownRuns } from './known-runs.ts'
import { byEnd, byId, byLeaseEnd } from './orders.ts'
import { RunRecord } from './run-record.ts'
import { SortedSet } from './sorted-set.ts'

/** A worker of the register. */
export interface KeptWorker extends Omit<WorkerEntry, 'lastsMs'> {
  state: WorkerState
  attachedAt: number
  heartbeatAt: number
  expiresAt: number
}

/** Moves of a pending run that leave it where it is. */
const INSIDE_A_ROUND: ReadonlySet<Move> = new Set<Move>(['assign', 'orphan'])

interface Bounds {
  /** False: events are counted, not kept. */
  eventLog: boolean
  /** How many ended runs are kept. A run that must not be deleted stays, and counts. */
  endedMax: number
}

export class Tables {
  readonly records = new Map<string, RunRecord>()
  readonly byId = new SortedSet<RunRow>(byId)
  readonly known = new KnownRuns()
  /** The running rows, by the end of their lease. */
  readonly leases = new SortedSet(byLeaseEnd)
  /** The rows that have ended, by their end. */
  readonly ended: Record<TerminalStatus, SortedSet<RunRow>> = {
    completed: new SortedSet<RunRow>(byEnd),
    failed: new SortedSet<RunRow>(byEnd),
    cancelled: new SortedSet<RunRow>(byEnd),
  }
  readonly schedules = new Map<string, ScheduleRow>()
  /** Who leads, or led last. */
  leader: (Omit<Leader, 'expiresInMs'> & Pick<LeadRequest, 'token'>) | null = null
  readonly workers = new Map<string, KeptWorker>()
  /** The pending rows that are assigned to a worker. */
  readonly assigned = new Set<RunRow>()
  /** The pending rows that prefer a worker. */
  readonly preferring = new Set<RunRow>()
  /** Events that were sent, by id. */
  readonly inbox = new Map<string, InboxRow>()
  /** The ids of those that were not delivered, in their order. */
  readonly undelivered = new Set<string>()
  /** The ids of events, by their dedupe keys. */
  readonly dedupeKeys = new Map<string, string>()
  settings: SettingsRow | null = null
  /** In the order in which they were stored. */
  readonly audit = new Map<string, AuditRow>()
  /** By the names of the jobs. */
  readonly definitions = new Map<string, DefinitionRow>()
  /** Those that files of may exist, and that were removed. */
  readonly removed = new Set<string>()
  nowMs = 0
  readonly #env: Pick<Env, 'wall'>
  readonly #bounds: Bounds
  #endedCount = 0
  readonly #queues = new Map<string, JobQueue>()
  /** The rows that have a concurrency key, by that key. */
  readonly #holders = new Map<string, RunRow>()
  readonly #byToken = new Map<string, RunRecord>()
  /** How many runs of a schedule have not ended. */
  readonly #activeOf = new Map<string, number>()
  /** The ids of all stored log lines, of every run. */
  readonly #logIds = new Set<string>()

  constructor(env: Pick<Env, 'wall'>, bounds: Bounds) {
    this.#env = env
    this.#bounds = bounds
  }

  /** Called first by every operation, so that the operation has one time, whatever the clock does meanwhile. */
  begin(): void {
    this.nowMs = this.#env.wall()
  }

  /** Made when it is asked for: most polls write nothing. */
  get nowIso(): string {
    return iso(this.nowMs)
  }

  heldUnder(token: string): RunRecord | undefined {
    return this.#byToken.get(token)
  }

  /** The run of a claim, found among the few that are held, and among all only if it is not held under this claim any more. */
  claimed({ token, runId }: Pick<Claim, 'token' | 'runId'>): RunRecord | undefined {
    const held = this.#byToken.get(token)
    return held?.row.id === runId ? held : this.records.get(runId)
  }

  heldTokens(): string[] {
    return [...this.#byToken.keys()]
  }

  holderOf(concurrencyKey: string): RunRow | undefined {
    return this.#holders.get(concurrencyKey)
  }

  /** Whether a run of the schedule has not ended. */
  isScheduleBusy(scheduleId: string): boolean {
    return (this.#activeOf.get(scheduleId) ?? 0) > 0
  }

  queue(jobName: string): JobQueue | undefined {
    return this.#queues.get(jobName)
  }

  queues(): Iterable<[string, JobQueue]> {
    return this.#queues
  }

  insert(row: RunRow, events: readonly RecordedEvent[]): RunRecord {
    const record = new RunRecord(row)
    this.records.set(row.id, record)
    this.byId.add(row)
    this.known.add(record)
    this.#enter(record)
    this.appendEvents(record, events)
    return record
  }

  remove(record: RunRecord): void {
    const { row, kept } = record
    for (const { id } of kept.logs) this.#logIds.delete(id)
    this.#leave(record)
    this.records.delete(row.id)
    this.byId.delete(row)
    this.known.remove(row)
    if (row.logRef !== null) this.removed.add(row.id)
  }

  /** Whether nobody needs a run that has ended any more (`DeleteOutcome`). */
  isDeletable({ id, status, parentRunId }: RunRow): boolean {
    if (this.#isAwaited(parentRunId)) return false
    return status !== 'cancelled' || this.known.childrenOf(id).every((child) => isTerminal(child.status))
  }

  #isAwaited(parentRunId: string | null): boolean {
    const parent = parentRunId === null ? undefined : this.records.get(parentRunId)
    return parent !== undefined && !isFinal(parent.row.status)
  }

  /** A move and its events; that it is allowed was asked before. */
  move(record: RunRecord, move: Move, change: (row: RunRow) => void, events: readonly RecordedEvent[]): void {
    const { row } = record
    const { to } = TRANSITIONS[move]
    this.#leave(record)
    change(row)
    row.status = to
    row.version += 1
    row.updatedAt = this.nowIso
    row.finishedAt = isTerminal(to) ? this.nowMs : null
    if (to !== 'running' && !INSIDE_A_ROUND.has(move)) this.#letGo(row)
    this.#enter(record)
    this.appendEvents(record, events)
    if (isTerminal(to)) this.#wakeParent(row)
    while (this.#endedCount > this.#bounds.endedMax && this.#removeOldest());
  }

  #letGo(row: RunRow): void {
    row.leaseOwner = null
    row.leaseExpiresAt = null
    row.assignedWorkerId = null
    row.assignedAt = null
    unmark(row)
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
    unmark(row)
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
  signalled(record: RunRecord, wakes: boolean): void {
    const { row } = record
    row.signals += 1
    if (!wakes || row.runAt <= this.nowMs) return
    this.#leave(record)
    row.runAt = this.nowMs
    this.#enter(record)
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

  forgetLines({ own }: RunRecord, lineIds: ReadonlySet<string>): void {
    own.logs = own.logs.filter(({ id }) => !lineIds.has(id))
    for (const id of lineIds) this.#logIds.delete(id)
  }

  #enter(record: RunRecord): void {
    const { row } = record
    if (row.status === 'pending' && row.assignedWorkerId !== null) this.assigned.add(row)
    if (row.status === 'pending' && row.preferWorkerId !== null) this.preferring.add(row)
    if (row.status === 'pending') grow(this.#queues, row.jobName, () => new JobQueue((key) => this.#holders.has(key))).add(record)
    if (row.status === 'running') {
      this.leases.add(row)
      if (row.leaseOwner !== null) this.#byToken.set(row.leaseOwner, record)
    }
    const key = keyInUse(row)
    if (key !== null) this.#hold(key, row)
    if (isTerminal(row.status)) {
      this.ended[row.status].add(row)
      this.#endedCount++
    } else if (row.scheduleId !== null) this.#activeOf.set(row.scheduleId, (this.#activeOf.get(row.scheduleId) ?? 0) + 1)
  }

  #leave(record: RunRecord): void {
    const { row } = record
    this.assigned.delete(row)
    this.preferring.delete(row)
    if (row.status === 'pending') this.#queues.get(row.jobName)?.remove(record)
    if (row.status === 'running') {
      this.leases.delete(row)
      if (row.leaseOwner !== null) this.#byToken.delete(row.leaseOwner)
    }
    const key = keyInUse(row)
    if (key !== null) this.#free(key)
    if (isTerminal(row.status)) {
      this.ended[row.status].delete(row)
      this.#endedCount--
    } else if (row.scheduleId !== null) this.#activeOf.set(row.scheduleId, (this.#activeOf.get(row.scheduleId) ?? 1) - 1)
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

/** The owner is back, if it was away. */
function unmark(row: RunRow): void {
  row.continuationState = null
  row.continuationCheckDeadlineAt = null
}
