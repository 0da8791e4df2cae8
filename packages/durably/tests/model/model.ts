// Model — what a store does, in the plainest words: runs in an array, a clock, one function per verb.
// Written from the port (src/store/*.ts) and the transition table, to be read; nothing in here is fast.

import { iso } from '../../src/model/env.ts'
import type { EventType, RecordedPayload } from '../../src/model/event.ts'
import type { LogRow } from '../../src/model/log.ts'
import { PHASES, phase } from '../../src/model/phase.ts'
import { type FailureReason, isTerminal, type RunRow } from '../../src/model/run.ts'
import type { SignalRow } from '../../src/model/signal.ts'
import type { StepRow } from '../../src/model/step.ts'
import { decodeStreams } from '../../src/model/stream.ts'
import { canMove, type Move, TRANSITIONS } from '../../src/model/transitions.ts'
import { decodeWaits } from '../../src/model/wait.ts'
import type { AssignedRun, Assignment } from '../../src/store/cluster/assignments.ts'
import { crashLoopError, DEADLINE_ERROR } from '../../src/store/loss-errors.ts'
import type { Claim, OwnerVerb, OwnerWrite, WriteOutcome } from '../../src/store/owner-write.ts'
import * as port from '../../src/store/runs.ts'
import type { SendOutcome } from '../../src/store/signals.ts'

export interface Model {
  /** The store's clock (S4). */
  now(): number
  /** In the order they were created. */
  runs: ModelRun[]
}

export interface ModelRun {
  row: RunRow
  /** It has its concurrency key until it ends. */
  holds: boolean
  /** In the order they were recorded; so are events. */
  steps: StepRow[]
  events: ModelEvent[]
  /** By id. */
  logs: LogRow[]
  signals: SignalRow[]
}

export interface ModelEvent {
  seq: number
  type: EventType
  payload: RecordedPayload
  createdAt: string
}

export function find(model: Model, id: string): ModelRun | undefined {
  return model.runs.find(({ row }) => row.id === id)
}

/** By its parent's step first, then by its idempotency key. */
function knownAs(model: Model, { jobName, idempotencyKey, parentRunId, parentStep }: port.NewRun): ModelRun | undefined {
  const isChild = (row: RunRow) => parentStep !== null && row.parentStep === parentStep && row.parentRunId === parentRunId
  const hasKey = (row: RunRow) => idempotencyKey !== null && row.idempotencyKey === idempotencyKey && row.jobName === jobName
  return model.runs.find(({ row }) => isChild(row)) ?? model.runs.find(({ row }) => hasKey(row))
}

export function create(model: Model, runs: readonly port.NewRun[]): port.Created[] {
  return runs.map((given) => {
    const sentBefore = find(model, given.id)
    if (sentBefore) return { run: { ...sentBefore.row }, created: true }
    const known = knownAs(model, given)
    if (known) return { run: { ...known.row }, created: false }
    const run: ModelRun = { row: newRow(given, model.now()), holds: false, steps: [], events: [], logs: [], signals: [] }
    model.runs.push(run)
    tell(run, 'run:trigger', {}, iso(model.now()))
    return { run: { ...run.row }, created: true }
  })
}

export function claim(model: Model, request: port.ClaimRequest): RunRow[] {
  const { tokens } = request
  const mine = adopt(model, tokens)
  if (mine.length > 0) return mine // it was sent before (S3)
  // One statement sees all rows as they were before it.
  const asked = new Map(model.runs.map(({ row }) => [row.id, cancelOf(model, row)]))
  return tokens.flatMap((token) => claimOne(model, request, token, asked) ?? [])
}

function claimOne(
  model: Model,
  { jobNames, leaseMs, confirmMs, workerId }: port.ClaimRequest,
  token: string,
  asked: ReadonlyMap<string, number | null>,
): RunRow | null {
  const now = model.now()
  const [oldest] = model.runs
    .filter(({ row }) => row.status === 'pending' && row.runAt <= now && jobNames.includes(row.jobName))
    .filter(({ row, holds }) => holds || row.concurrencyKey === null || !holderOf(model, row.concurrencyKey))
    .sort((a, b) => byTurn(a.row, b.row))
  if (!oldest) return null
  const { row } = oldest
  row.leaseGeneration += 1
  row.leaseOwner = token
  row.leaseExpiresAt = now + leaseMs
  row.leaseWrites = 0
  row.workerId = workerId ?? null
  row.confirmMs = confirmMs || null
  row.cancelRequestedAt = asked.get(row.id) ?? null
  row.heartbeatAt = iso(now)
  row.startedAt ??= now
  oldest.holds = row.holdKey
  move(model, oldest, 'claim', { generation: row.leaseGeneration, workerId: row.workerId })
  for (const { stepName, kept } of decodeStreams(row.streams)) tell(oldest, 'stream:reset', { stepName, to: kept }, iso(now))
  return { ...row }
}

function holderOf(model: Model, key: string): ModelRun | undefined {
  return model.runs.find(({ row, holds }) => row.concurrencyKey === key && (row.status === 'running' || holds))
}

export function getHolder(model: Model, key: string): RunRow | null {
  const holder = holderOf(model, key)
  return holder ? { ...holder.row } : null
}

export function adopt(model: Model, tokens: readonly string[]): RunRow[] {
  const rows = model.runs.map(({ row }) => ({ ...row }))
  return rows.filter(({ leaseOwner }) => leaseOwner !== null && tokens.includes(leaseOwner)).sort(byTurn)
}

function byTurn(a: RunRow, b: RunRow): number {
  return a.runAt - b.runAt || compare(a.id, b.id)
}

export function apply(model: Model, writes: readonly OwnerWrite[]): WriteOutcome[] {
  return writes.map((write) => applyOne(model, write))
}

const ENDS: OwnerVerb['type'][] = ['complete', 'fail', 'abandon']

function applyOne(model: Model, { claim, number, verb, ...attachments }: OwnerWrite): WriteOutcome {
  const run = find(model, claim.runId)
  if (!run || run.row.leaseGeneration !== claim.generation) return { ok: false }
  const { row } = run
  const accepted = () => ({ ok: true, cancelRequested: cancelOf(model, row) !== null }) as const
  // W2. An ended lease has forgotten its token; a step that was refused is not there.
  if (number <= row.leaseWrites && (row.leaseOwner === claim.token || row.leaseOwner === null)) {
    return verb.type === 'recordStep' && !run.steps.some(({ id }) => id === verb.step.id) ? { ok: false } : accepted()
  }
  if (row.status !== 'running' || row.leaseOwner !== claim.token) return { ok: false } // W1
  if (ENDS.includes(verb.type) && (row.leaderEpoch ?? 0) !== (claim.leaderEpoch ?? 0)) return { ok: false }
  if (verb.type === 'recordStep' && verb.step.status === 'completed' && isCompleted(run, verb.step.name)) return { ok: false }
  row.leaseWrites = number
  row.updatedAt = iso(model.now())
  if (attachments.progress !== null) row.progress = attachments.progress
  if (attachments.streams !== null) row.streams = attachments.streams
  if (attachments.effects !== null) row.effects = attachments.effects
  if (verb.type === 'recordStep' && verb.endsStream) forgetStream(run, verb.step.name)
  addLines(model, attachments.logs)
  for (const { type, payload, createdAt } of attachments.events) tell(run, type, payload, createdAt) // W3: what gathered comes first
  perform(model, run, verb, claim.generation)
  return accepted()
}

function perform(model: Model, run: ModelRun, verb: OwnerVerb, generation: number): void {
  const { row } = run
  if (verb.type === 'heartbeat' || verb.type === 'recordStep') {
    row.leaseExpiresAt = model.now() + verb.leaseMs
    Object.assign(row, NOT_MARKED)
    row.heartbeatAt = iso(model.now())
    if (verb.type === 'recordStep') recordStep(run, verb.step, generation, iso(model.now()))
    return
  }
  if (verb.type === 'complete') Object.assign(row, { output: verb.output, error: null, failure: null, reason: null })
  if (verb.type === 'fail') Object.assign(row, { error: verb.error, failure: verb.failure, reason: verb.reason })
  if (verb.type === 'retryLater') Object.assign(row, { error: verb.error, failure: verb.failure })
  if (verb.type === 'fail' || verb.type === 'retryLater') row.attempts += 1
  if (verb.type === 'park' || verb.type === 'retryLater') {
    const isUnseen = verb.type === 'park' && row.signals > verb.signals
    row.waitingFor = verb.waitingFor
    if (cancelOf(model, row) === null && !isUnseen) row.runAt = verb.runAt
  }
  if (verb.type === 'abandon') row.cancelRequestedAt = cancelOf(model, row)
  move(model, run, verb.type, { generation, ...told(verb) })
}

function told(verb: OwnerVerb): RecordedPayload {
  if (verb.type === 'fail') return { error: verb.error, failure: JSON.parse(verb.failure), failedStepName: verb.failedStepName }
  if (verb.type === 'retryLater') return { error: verb.error, attempt: verb.attempt, runAt: iso(verb.runAt) }
  return verb.type === 'park' ? { runAt: iso(verb.runAt) } : {}
}

export function sendSignal(model: Model, signal: SignalRow): SendOutcome | null {
  const run = find(model, signal.runId)
  if (!run) return null
  const first = run.signals.find(({ name }) => name === signal.name)
  if (first) return first.id === signal.id ? 'accepted' : 'taken'
  const { row } = run
  if (isTerminal(row.status)) return 'ended'
  run.signals.push({ ...signal })
  row.signals += 1
  const isAwaited = decodeWaits(row.waitingFor).some(({ kind, name }) => kind === 'signal' && name === signal.name)
  if (row.status === 'pending' && isAwaited) row.runAt = Math.min(row.runAt, model.now())
  return 'accepted'
}

function forgetStream(run: ModelRun, stepName: string): void {
  run.events = run.events.filter(({ type, payload }) => !(type.startsWith('stream:') && payload.stepName === stepName))
}

function recordStep(run: ModelRun, step: StepRow, generation: number, at: string): void {
  run.steps.push({ ...step })
  if (step.status === 'completed') {
    run.row.currentStepIndex += 1
    run.row.recoveries = 0
  }
  tell(run, step.status === 'completed' ? 'step:complete' : 'step:fail', { generation, stepId: step.id }, at)
}

export function lostRuns(model: Model, { tokens }: port.ReapRequest): ModelRun[] {
  return model.runs.filter(({ row }) => (tokens ? tokens.includes(row.leaseOwner ?? '') : isLost(row, model.now())))
}

export function reap(model: Model, request: port.ReapRequest): port.Reaped[] {
  const { maxRecoveries, tokens } = request
  const now = model.now()
  const isFar = ({ row }: ModelRun) => Number(!tokens && (row.leaseExpiresAt ?? 0) > now + port.LEASE_MS_MAX)
  const lost = lostRuns(model, request)
  lost.sort((a, b) => isFar(a) - isFar(b) || (a.row.leaseExpiresAt ?? 0) - (b.row.leaseExpiresAt ?? 0))
  return lost.slice(0, port.REAP_MAX).map((run) => {
    const { row } = run
    if (!tokens && mayComeBack(row, now)) {
      const until = (row.leaseExpiresAt ?? 0) + (row.confirmMs ?? 0)
      Object.assign(row, { continuationState: 'CONFIRMING', continuationCheckDeadlineAt: until, leaseExpiresAt: until })
      move(model, run, 'confirm', {})
      return { run: { ...row }, move: 'confirm' }
    }
    const fate = fateOf(row, now, maxRecoveries)
    const { code, error } = LOST_FOR_GOOD[fate]?.(maxRecoveries) ?? {}
    const failure = { name: 'DurablyError', code: code ?? '', message: error ?? '' }
    if (fate === 'reclaim') row.recoveries += 1
    if (error !== undefined) Object.assign(row, { error, failure: JSON.stringify(failure), reason: code })
    move(model, run, fate, error === undefined ? {} : { error, failure, failedStepName: '' })
    return { run: { ...row }, move: fate }
  })
}

const NOT_MARKED = { continuationState: null, continuationCheckDeadlineAt: null }

function mayComeBack({ continuationState, leaseExpiresAt, confirmMs }: RunRow, now: number): boolean {
  const end = leaseExpiresAt ?? Number.POSITIVE_INFINITY
  return continuationState === null && confirmMs !== null && end <= now && now < end + confirmMs
}

function fateOf(row: RunRow, now: number, maxRecoveries: number): port.Reaped['move'] {
  if (row.cancelRequestedAt !== null) return 'reclaimCancelled'
  if (row.deadlineAt !== null && row.deadlineAt <= now) return 'reclaimTimedOut'
  return row.recoveries < maxRecoveries ? 'reclaim' : 'reclaimCrashLoop'
}

const LOST_FOR_GOOD: { [move in Move]?: (maxRecoveries: number) => { code: FailureReason; error: string } } = {
  reclaimTimedOut: () => ({ code: 'timeout', error: DEADLINE_ERROR }),
  reclaimCrashLoop: (maxRecoveries) => ({ code: 'crash_loop', error: crashLoopError(maxRecoveries) }),
}

/** By the leader of this epoch, to a worker that is there. */
export function assign(model: Model, epoch: number, { runId, version, workerId }: Assignment): AssignedRun[] {
  const run = find(model, runId)
  if (run?.row.status !== 'pending' || run.row.version !== version || run.row.assignedWorkerId !== null) return []
  Object.assign(run.row, { assignedWorkerId: workerId, assignedAt: model.now(), leaderEpoch: epoch, assignCount: run.row.assignCount + 1 })
  move(model, run, 'assign', { workerId })
  return [{ id: runId, jobName: run.row.jobName, workerId }]
}

/** All that are assigned, because no worker is there any more. */
export function orphan(model: Model, epoch: number): AssignedRun[] {
  const lost = model.runs.filter(
    ({ row }) => row.status === 'pending' && row.assignedWorkerId !== null && (row.assignedAt ?? 0) <= model.now(),
  )
  return lost.map((run) => {
    const { row } = run
    const workerId = row.assignedWorkerId ?? ''
    Object.assign(row, { assignedWorkerId: null, leaderEpoch: epoch })
    move(model, run, 'orphan', { workerId })
    return { id: row.id, jobName: row.jobName, workerId }
  })
}

export function wasAlive(model: Model, { runId, generation, token }: Claim): void {
  const row = find(model, runId)?.row
  if (!row || isTerminal(row.status) || row.leaseGeneration < generation || row.leaseOwner === token) return
  if (row.recoveries > 0) row.recoveries -= 1
}

/** When the run, or the one that triggered it, was asked to stop. */
function cancelOf(model: Model, { cancelRequestedAt, parentRunId }: RunRow): number | null {
  return cancelRequestedAt ?? find(model, parentRunId ?? '')?.row.cancelRequestedAt ?? null
}

function childrenOf(model: Model, id: string): ModelRun[] {
  return model.runs.filter(({ row }) => row.parentRunId === id)
}

export function cancel(model: Model, id: string): port.CancelOutcome | null {
  const run = find(model, id)
  if (!run) return null
  const { status } = run.row
  const others = stop(model, run).filter((one) => one.id !== id)
  const outcome = status === 'pending' ? 'cancelled' : status === 'running' ? 'requested' : 'refused'
  return { outcome, run: { ...run.row }, others: others.sort((a, b) => compare(a.id, b.id)) }
}

/** Itself and what is below it; answers which of them it changed. */
function stop(model: Model, run: ModelRun): port.StoppedRun[] {
  const { row } = run
  const { id, jobName, status } = row
  if (status === 'completed' || status === 'failed') return []
  const stopped: port.StoppedRun[] = []
  if (status === 'pending') {
    row.cancelRequestedAt = model.now()
    move(model, run, 'cancel', {})
    stopped.push({ outcome: 'cancelled', id, jobName })
  }
  if (status === 'running' && row.cancelRequestedAt === null) {
    Object.assign(row, { cancelRequestedAt: model.now(), updatedAt: iso(model.now()), version: row.version + 1 })
    stopped.push({ outcome: 'requested', id, jobName })
  }
  return [...stopped, ...childrenOf(model, id).flatMap((child) => stop(model, child))]
}

export function retry(model: Model, id: string): port.RetryOutcome | null {
  const run = find(model, id)
  if (!run) return null
  const { row } = run
  const isDoomed = (find(model, row.parentRunId ?? '')?.row.cancelRequestedAt ?? null) !== null
  if (row.status !== 'failed' || isDoomed) return { outcome: 'refused', run: { ...row } }
  Object.assign(row, { error: null, failure: null, reason: null, output: null, cancelRequestedAt: null, recoveries: 0, attempts: 0 })
  row.retryGeneration = row.leaseGeneration
  const hasFailed = (name: string) => run.steps.some((step) => step.name === name && step.status === 'failed')
  run.signals = run.signals.filter(({ name }) => !hasFailed(name) || isCompleted(run, name))
  if (row.deadlineAt !== null && row.deadlineAt <= model.now()) row.deadlineAt = null
  move(model, run, 'retry', {})
  return { outcome: 'retried', run: { ...row } }
}

/** `delete` is a word of the language. */
export function remove(model: Model, id: string): port.DeleteOutcome | null {
  const run = find(model, id)
  if (!run) return null
  const { status } = run.row
  if (!isDeletable(model, run)) return { outcome: 'refused', status }
  model.runs = model.runs.filter((other) => other !== run)
  return { outcome: 'deleted', status }
}

/** Nobody needs it any more. */
function isDeletable(model: Model, { row }: ModelRun): boolean {
  const parent = find(model, row.parentRunId ?? '')?.row.status
  const mayBeAskedFor = parent === 'pending' || parent === 'running' || parent === 'failed'
  const hasToStay = row.status === 'cancelled' && childrenOf(model, row.id).some((child) => !isTerminal(child.row.status))
  return isTerminal(row.status) && !mayBeAskedFor && !hasToStay
}

export function purge(model: Model, { statuses, olderThanMs, jobNames, limit }: port.PurgeRequest): number {
  const end = model.now() - olderThanMs
  const page = model.runs
    .filter(({ row }) => statuses.some((status) => status === row.status) && (!jobNames || jobNames.includes(row.jobName)))
    .filter((run) => run.row.finishedAt !== null && run.row.finishedAt <= end && isDeletable(model, run))
    .sort((a, b) => (a.row.finishedAt ?? 0) - (b.row.finishedAt ?? 0) || compare(a.row.id, b.row.id))
    .slice(0, limit)
  model.runs = model.runs.filter((run) => !page.includes(run))
  return page.length
}

/** By phase, then by whether an attempt has failed. */
export function count(model: Model, jobNames?: readonly string[]): port.RunCount[] {
  const rows = model.runs.map(({ row }) => row).filter((row) => !jobNames || jobNames.includes(row.jobName))
  return PHASES.flatMap((name) =>
    [false, true].flatMap((isRetried) => {
      const count = rows.filter(
        (row) => phase(row, model.now()) === name && (row.attempts > 0 && !isTerminal(row.status)) === isRetried,
      ).length
      return count === 0 ? [] : { phase: name, isRetried, count }
    }),
  )
}

export function get(model: Model, id: string): RunRow | null {
  const run = find(model, id)
  return run ? { ...run.row } : null
}

export function list(model: Model, query: port.RunQuery): RunRow[] {
  const { after, oldestFirst, limit } = query
  const isByEnd = query.finishedFrom !== undefined || query.finishedBefore !== undefined
  const inOrder = (a: port.RunPlace, b: port.RunPlace) =>
    (oldestFirst ? 1 : -1) * ((isByEnd ? (a.finishedAt ?? 0) - (b.finishedAt ?? 0) : 0) || compare(a.id, b.id))
  const place = ({ id, finishedAt }: RunRow): port.RunPlace => ({ id, finishedAt: finishedAt ?? 0 })
  return model.runs
    .map(({ row }) => ({ ...row }))
    .filter((row) => fits(row, query, model.now()) && (!isByEnd || row.finishedAt !== null))
    .filter((row) => after === undefined || inOrder(place(row), after) > 0)
    .sort((a, b) => inOrder(place(a), place(b)))
    .slice(0, limit)
}

function fits(row: RunRow, query: port.RunQuery, now: number): boolean {
  const isWanted = <T>(wanted: T | undefined, value: T | null) => wanted === undefined || wanted === value
  const isAmong = <T>(wanted: readonly T[] | undefined, value: T) => wanted === undefined || wanted.includes(value)
  return [
    isAmong(query.statuses, row.status),
    isAmong(query.phases, phase(row, now)),
    query.timedOut === undefined || row.status !== 'failed' || (row.reason === 'timeout') === query.timedOut,
    isAmong(query.jobNames, row.jobName),
    isWanted(query.concurrencyKey, row.concurrencyKey),
    isWanted(query.idempotencyKey, row.idempotencyKey),
    isWanted(query.parentRunId, row.parentRunId),
    Object.entries(query.labels ?? {}).every(([name, value]) => JSON.parse(row.labels ?? '{}')[name] === value),
    query.fromId === undefined || row.id >= query.fromId,
    query.beforeId === undefined || row.id < query.beforeId,
    query.finishedFrom === undefined || (row.finishedAt ?? 0) >= query.finishedFrom,
    query.finishedBefore === undefined || (row.finishedAt ?? 0) < query.finishedBefore,
  ].every(Boolean)
}

export function held(model: Model): string[] {
  return model.runs.flatMap(({ row }) => row.leaseOwner ?? [])
}

export function probe(model: Model, jobNames: readonly string[]): port.Probe {
  const now = model.now()
  const rows = model.runs.map(({ row }) => row)
  const pending = rows.filter((row) => row.status === 'pending' && jobNames.includes(row.jobName))
  const leases = rows.filter((row) => row.status === 'running' && !isLost(row, now))
  const ahead = [...pending.map((row) => row.runAt), ...leases.map((row) => row.leaseExpiresAt ?? 0)].filter((at) => at > now)
  return {
    due: pending.some((row) => row.runAt <= now),
    stale: rows.some((row) => isLost(row, now)),
    nextInMs: ahead.length === 0 ? null : Math.min(...ahead) - now,
  }
}

export function addLines(model: Model, lines: readonly LogRow[]): void {
  for (const line of lines) {
    const isKnown = model.runs.some(({ logs }) => logs.some(({ id }) => id === line.id))
    const logs = isKnown ? undefined : find(model, line.runId)?.logs
    logs?.push({ ...line })
    logs?.sort((a, b) => (a.id < b.id ? -1 : 1))
  }
}

/** A move and its event are written together (S5). */
function move(model: Model, run: ModelRun, name: Move, payload: RecordedPayload): void {
  const { row } = run
  if (!canMove(name, row.status)) throw new Error(`the model is wrong: ${name} of a ${row.status} run`)
  const { to, event } = TRANSITIONS[name]
  row.status = to
  row.version += 1
  row.updatedAt = iso(model.now())
  row.finishedAt = isTerminal(to) ? model.now() : null
  if (to !== 'running' && name !== 'assign' && name !== 'orphan')
    Object.assign(row, { leaseOwner: null, leaseExpiresAt: null, assignedWorkerId: null, assignedAt: null, ...NOT_MARKED })
  tell(run, event, payload, iso(model.now()))
  if (!isTerminal(to)) return
  run.holds = false
  wakeParent(model, row)
}

function wakeParent(model: Model, { parentRunId }: RunRow): void {
  const parent = find(model, parentRunId ?? '')?.row
  if (!parent || isTerminal(parent.status)) return
  parent.signals += 1
  const isAwaited = decodeWaits(parent.waitingFor).some(({ kind }) => kind === 'child')
  if (parent.status === 'pending' && isAwaited) parent.runAt = Math.min(parent.runAt, model.now())
}

function tell({ row, events }: ModelRun, type: EventType, payload: RecordedPayload, createdAt: string): void {
  row.lastEventSequence += 1
  events.push({ seq: row.lastEventSequence, type, payload, createdAt })
}

function isLost({ status, leaseExpiresAt }: RunRow, now: number): boolean {
  return status === 'running' && leaseExpiresAt !== null && (leaseExpiresAt <= now || leaseExpiresAt > now + port.LEASE_MS_MAX)
}

function isCompleted({ steps }: ModelRun, name: string): boolean {
  return steps.some((step) => step.name === name && step.status === 'completed')
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function newRow({ delayMs, runAt, deadlineMs, parentToken, ...given }: port.NewRun, now: number): RunRow {
  const { createdAt } = given
  const deadlineAt = deadlineMs === null ? given.deadlineAt : now + deadlineMs
  const dueAt = runAt ?? now + (delayMs ?? 0)
  return {
    ...given,
    ...{ status: 'pending', currentStepIndex: 0, progress: null, streams: null, effects: null },
    ...{ output: null, error: null, failure: null, reason: null },
    ...{ heartbeatAt: createdAt, updatedAt: createdAt, version: 0 },
    ...{ deadlineAt, runAt: Math.min(dueAt, Math.max(deadlineAt ?? dueAt, now)) },
    ...{ leaseGeneration: 0, leaseOwner: null, leaseExpiresAt: null, leaseWrites: 0 },
    ...{ attempts: 0, retryGeneration: 0, waitingFor: null, signals: 0 },
    ...{ scheduleId: null, scheduledFor: null, logRef: null, unchecked: false, preferWorkerId: null },
    ...{ workerId: null, confirmMs: null, continuationState: null, continuationCheckDeadlineAt: null },
    ...{ assignedWorkerId: null, assignedAt: null, assignCount: 0, leaderEpoch: null },
    ...{ cancelRequestedAt: null, recoveries: 0, startedAt: null, finishedAt: null, lastEventSequence: 0 },
  }
}
