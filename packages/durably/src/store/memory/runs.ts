import { DurablyError } from '../../model/errors.ts'
import { phase } from '../../model/phase.ts'
import { isTerminal, type RunRow } from '../../model/run.ts'
import { decodeStreams } from '../../model/stream.ts'
import { canMove, type Move, TRANSITIONS } from '../../model/transitions.ts'
import { notStored } from '../not-stored.ts'
import { type Claim, eventOf, type OwnerWrite } from '../owner-write.ts'
import {
  type CancelOutcome,
  type Changed,
  type ClaimRequest,
  type Created,
  type CreateOptions,
  type DeleteOutcome,
  type IfVersion,
  LEASE_MS_MAX,
  type NewRun,
  type Probe,
  type PurgeRequest,
  type RetryOutcome,
  type RunCount,
  type RunQuery,
  type RunStore,
  type StoppedRun,
} from '../runs.ts'
import { applyWrite } from './apply.ts'
import { byTurn } from './job-queue.ts'
import { reap } from './reap.ts'
import type { RunRecord } from './run-record.ts'
import { byAge, byEnd, compareText, endOf, leaseEnd, type Tables } from './tables.ts'

export function memoryRuns(tables: Tables): RunStore {
  /** Nothing in a verb waits, so each one is a transaction (S1), and no function is suspended for its answer. */
  const verb =
    <Request, Options, Answer>(perform: (tables: Tables, request: Request, options?: Options) => Answer) =>
    (request: Request, options?: Options): Promise<Answer> => {
      try {
        tables.begin()
        return Promise.resolve(perform(tables, request, options))
      } catch (error) {
        return Promise.reject(error)
      }
    }
  return {
    create: verb(createAll),
    claim: verb(claim),
    adopt: verb(adopt),
    apply: verb((tables, writes: readonly OwnerWrite[]) => writes.map((write) => applyWrite(tables, write))),
    reap: verb(reap),
    wasAlive: verb(wasAlive),
    cancel: verb(cancel),
    retry: verb(retry),
    delete: verb(remove),
    get: verb(get),
    list: verb(list),
    probe: verb(probe),
    count: verb(count),
    purge: verb(purge),
  }
}

function createAll(tables: Tables, runs: readonly NewRun[], { within }: CreateOptions = {}): Created[] {
  if (within !== undefined) throw new DurablyError('transaction_unsupported', 'trigger({ tx }) needs a database; this store has none')
  return runs.map((run) => create(tables, run))
}

function create(tables: Tables, run: NewRun): Created {
  const sentBefore = tables.records.get(run.id)
  if (sentBefore) return { run: { ...sentBefore.row }, created: true }
  const known = tables.knownAs(run)
  if (known) return { run: { ...known.row }, created: false }
  if (run.parentToken !== null && tables.records.get(run.parentRunId ?? '')?.row.leaseOwner !== run.parentToken) throw notStored(run)
  const { row } = tables.insert(newRow(run, tables.nowMs), [{ type: 'run:trigger', payload: {}, createdAt: tables.nowIso }])
  return { run: { ...row }, created: true }
}

function newRow(run: NewRun, nowMs: number): RunRow {
  const { id, jobName, payload, idempotencyKey, concurrencyKey, createdAt, parentRunId, parentStep } = run
  const dueAt = run.runAt ?? nowMs + (run.delayMs ?? 0)
  const deadlineAt = run.deadlineMs === null ? run.deadlineAt : nowMs + run.deadlineMs
  return {
    id,
    jobName,
    payload,
    status: 'pending',
    idempotencyKey,
    concurrencyKey,
    currentStepIndex: 0,
    progress: null,
    streams: null,
    effects: null,
    output: null,
    error: null,
    failure: null,
    reason: null,
    heartbeatAt: createdAt,
    createdAt,
    updatedAt: createdAt,
    version: 0,
    runAt: deadlineAt === null ? dueAt : Math.min(dueAt, Math.max(deadlineAt, nowMs)),
    leaseGeneration: 0,
    leaseOwner: null,
    leaseExpiresAt: null,
    leaseWrites: 0,
    cancelRequestedAt: null,
    recoveries: 0,
    attempts: 0,
    retryGeneration: 0,
    deadlineAt,
    waitingFor: null,
    signals: 0,
    parentRunId,
    parentStep,
    startedAt: null,
    finishedAt: null,
    lastEventSequence: 0,
  }
}

function claim(tables: Tables, { jobNames, tokens, leaseMs }: ClaimRequest): RunRow[] {
  const sentBefore = adopt(tables, tokens)
  if (sentBefore.length > 0) return sentBefore
  const claimed: RunRow[] = []
  /** Of those that this claim has taken: as it was before, for one statement of a database would see nothing else. */
  const asked = new Map<string, number | null>()
  for (const token of tokens) {
    const row = claimOne(tables, jobNames, token, leaseMs, asked)
    if (!row) break
    claimed.push(row)
  }
  return claimed
}

function claimOne(
  tables: Tables,
  jobNames: readonly string[],
  token: string,
  leaseMs: number,
  asked: Map<string, number | null>,
): RunRow | null {
  const { nowMs } = tables
  const row = firstClaimable(tables, jobNames)
  const record = row && tables.records.get(row.id)
  if (!record || !canMove('claim', row.status)) return null
  const generation = row.leaseGeneration + 1
  const own = () => {
    row.leaseGeneration = generation
    row.leaseOwner = token
    row.leaseExpiresAt = nowMs + leaseMs
    row.leaseWrites = 0
    const before = row.cancelRequestedAt
    const parentAsked = row.parentRunId === null ? undefined : asked.get(row.parentRunId)
    row.cancelRequestedAt = parentAsked === undefined ? tables.cancelOf(row) : (before ?? parentAsked)
    asked.set(row.id, before)
    row.heartbeatAt = tables.nowIso
    row.startedAt ??= nowMs
  }
  const createdAt = tables.nowIso
  tables.move(record, 'claim', own, [
    { type: eventOf('claim'), payload: { generation }, createdAt },
    ...decodeStreams(row.streams).map(({ stepName, kept }) => ({
      type: 'stream:reset' as const,
      payload: { stepName, to: kept },
      createdAt,
    })),
  ])
  return { ...row }
}

function firstClaimable(tables: Tables, jobNames: readonly string[]): RunRow | undefined {
  let first: RunRow | undefined
  for (const jobName of jobNames) {
    const row = tables.queue(jobName)?.firstClaimable(tables.nowMs)
    if (row && (!first || byTurn(row, first) < 0)) first = row
  }
  return first
}

function adopt(tables: Tables, tokens: readonly string[]): RunRow[] {
  const held: RunRow[] = []
  for (const token of tokens) {
    const row = tables.heldUnder(token)
    if (row) held.push({ ...row })
  }
  return held.sort(byTurn)
}

function wasAlive(tables: Tables, { runId, generation, token }: Claim): void {
  const row = tables.records.get(runId)?.row
  if (!row || isTerminal(row.status) || row.leaseGeneration < generation || row.leaseOwner === token) return
  row.recoveries = Math.max(0, row.recoveries - 1)
}

function cancel(tables: Tables, id: string, { ifVersion }: IfVersion = {}): CancelOutcome | Changed | null {
  const record = tables.records.get(id)
  if (!record) return null
  const { row } = record
  if (isChanged(row, ifVersion)) return { outcome: 'changed', version: row.version }
  const outcome = stop(tables, record)
  const others = passesOn(row) ? stopBelow(tables, id) : []
  return { outcome, run: { ...row }, others: others.sort((a, b) => compareText(a.id, b.id)) }
}

function stop(tables: Tables, record: RunRecord): CancelOutcome['outcome'] {
  const { row } = record
  if (canMove('cancel', row.status)) {
    move(tables, record, 'cancel', { cancelRequestedAt: tables.nowMs })
    return 'cancelled'
  }
  if (row.status !== 'running') return 'refused'
  requestCancel(tables, row)
  return 'requested'
}

/** Those that it triggered share its cancel; they do not when it has come to another end. */
function passesOn({ status }: RunRow): boolean {
  return !isTerminal(status) || status === TRANSITIONS.cancel.to
}

/** From the top down: one that ends is not told of the end of those below it. */
function stopBelow(tables: Tables, id: string): StoppedRun[] {
  const stopped: StoppedRun[] = []
  for (const parents = [id]; parents.length > 0; ) {
    for (const child of tables.childrenOf(parents.pop() ?? '')) {
      const record = tables.records.get(child.id)
      if (!record || !passesOn(child)) continue
      const { version } = child
      const outcome = stop(tables, record)
      if (outcome !== 'refused' && child.version > version) stopped.push({ outcome, id: child.id, jobName: child.jobName })
      parents.push(child.id)
    }
  }
  return stopped
}

function isChanged({ version }: RunRow, ifVersion: number | undefined): boolean {
  return ifVersion !== undefined && version !== ifVersion
}

/** Asked once is enough: the first request keeps its time. */
function requestCancel(tables: Tables, row: RunRow): void {
  if (row.cancelRequestedAt !== null) return
  row.cancelRequestedAt = tables.nowMs
  row.updatedAt = tables.nowIso
  row.version += 1
}

function retry(tables: Tables, id: string, { ifVersion }: IfVersion = {}): RetryOutcome | Changed | null {
  const record = tables.records.get(id)
  if (!record) return null
  const { row } = record
  if (isChanged(row, ifVersion)) return { outcome: 'changed', version: row.version }
  const parent = tables.records.get(row.parentRunId ?? '')?.row
  if (!canMove('retry', row.status) || (parent && parent.cancelRequestedAt !== null)) return { outcome: 'refused', run: { ...row } }
  forgetRefusedSignals(record)
  move(tables, record, 'retry', {
    error: null,
    failure: null,
    reason: null,
    output: null,
    cancelRequestedAt: null,
    recoveries: 0,
    attempts: 0,
    retryGeneration: row.leaseGeneration,
    // One that is over would only let it fail again.
    deadlineAt: row.deadlineAt !== null && row.deadlineAt > tables.nowMs ? row.deadlineAt : null,
  })
  return { outcome: 'retried', run: { ...row } }
}

/** Those that a step failed by and that never got through: it waits for another one. */
function forgetRefusedSignals({ kept, own }: RunRecord): void {
  const failed = new Set(kept.steps.flatMap(({ name, status }) => (status === 'failed' ? name : [])))
  own.signals = kept.signals.filter(({ name }) => !failed.has(name) || kept.completedStepNames.has(name))
}

function remove(tables: Tables, id: string, { ifVersion }: IfVersion = {}): DeleteOutcome | Changed | null {
  const record = tables.records.get(id)
  if (!record) return null
  const { status, version } = record.row
  if (isChanged(record.row, ifVersion)) return { outcome: 'changed', version }
  if (!isTerminal(status) || !tables.isDeletable(record.row)) return { outcome: 'refused', status }
  tables.remove(record)
  return { outcome: 'deleted', status }
}

function get(tables: Tables, id: string): RunRow | null {
  const record = tables.records.get(id)
  return record ? { ...record.row } : null
}

function move(tables: Tables, record: RunRecord, move: Move, columns: Partial<RunRow>): void {
  tables.move(record, move, (row) => Object.assign(row, columns), [{ type: eventOf(move), payload: {}, createdAt: tables.nowIso }])
}

function list(tables: Tables, { status, jobName, limit = Number.POSITIVE_INFINITY, after }: RunQuery): RunRow[] {
  const rows: RunRow[] = []
  for (const row of tables.byAge.descending((row) => after !== undefined && byAge(row, after) >= 0)) {
    if (rows.length >= limit) break
    if (status !== undefined && row.status !== status) continue
    if (jobName !== undefined && row.jobName !== jobName) continue
    rows.push({ ...row })
  }
  return rows
}

function count(tables: Tables, jobNames?: readonly string[]): RunCount[] {
  const counts = new Map<string, RunCount>()
  for (const { row } of tables.records.values()) {
    if (jobNames && !jobNames.includes(row.jobName)) continue
    const one = { phase: phase(row, tables.nowMs), isRetried: row.attempts > 0, count: 1 }
    const key = `${one.phase} ${one.isRetried}`
    counts.set(key, { ...one, count: (counts.get(key)?.count ?? 0) + 1 })
  }
  return [...counts.values()]
}

function purge(tables: Tables, { statuses, olderThanMs, jobNames, limit }: PurgeRequest): number {
  const end = tables.nowMs - olderThanMs
  const page = [...new Set(statuses)].flatMap((status) => {
    const old: RunRow[] = []
    for (const row of tables.ended[status].ascending()) {
      if (endOf(row) > end || old.length === limit) break
      if ((!jobNames || jobNames.includes(row.jobName)) && tables.isDeletable(row)) old.push(row)
    }
    return old
  })
  const oldest = page.sort(byEnd).slice(0, limit)
  for (const record of oldest.flatMap(({ id }) => tables.records.get(id) ?? [])) tables.remove(record)
  return oldest.length
}

function probe(tables: Tables, jobNames: readonly string[]): Probe {
  const { nowMs } = tables
  const queues = jobNames.flatMap((jobName) => tables.queue(jobName) ?? [])
  const firstLease = tables.leases.first()
  const nextLease = tables.leases.firstPast((row) => leaseEnd(row) > nowMs)
  const brokenLease = tables.leases.firstPast((row) => leaseEnd(row) > nowMs + LEASE_MS_MAX)
  const ahead = queues.flatMap((queue) => queue.nextRunAt(nowMs) ?? [])
  if (nextLease && nextLease !== brokenLease) ahead.push(leaseEnd(nextLease))
  return {
    due: queues.some((queue) => queue.hasDue(nowMs)),
    stale: brokenLease !== undefined || (firstLease !== undefined && leaseEnd(firstLease) <= nowMs),
    nextInMs: ahead.length === 0 ? null : Math.min(...ahead) - nowMs,
  }
}
