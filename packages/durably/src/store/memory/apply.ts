import { isTerminal, type RunRow } from '../../model/run.ts'
import { canMove, TRANSITIONS } from '../../model/transitions.ts'
import { type EndingVerb, endsLease, eventsOf, type OwnerVerb, type OwnerWrite, type WriteOutcome } from '../owner-write.ts'
import type { RunRecord } from './run-record.ts'
import type { Tables } from './tables.ts'

export function apply(tables: Tables, writes: readonly OwnerWrite[]): WriteOutcome[] {
  return writes.map((write) => applyOne(tables, write))
}

function applyOne(tables: Tables, write: OwnerWrite): WriteOutcome {
  const record = tables.claimed(write.claim)
  if (!record) return { ok: false }
  const { row } = record
  if (isSentAgain(row, write)) return wasRefused(record, write.verb) ? { ok: false } : accepted(tables, row)
  if (!isOwner(row, write) || !isPossible(record, write.verb)) return { ok: false }
  row.leaseWrites = write.number
  row.progress = write.progress ?? row.progress
  row.streams = write.streams ?? row.streams
  row.effects = write.effects ?? row.effects
  tables.log(record, write.logs)
  perform(tables, record, write)
  return accepted(tables, row)
}

/** W2. An ended lease has left no token, but its generation stays until the next claim. */
function isSentAgain(row: RunRow, { claim, number }: OwnerWrite): boolean {
  const isSameLease = row.leaseGeneration === claim.generation && (row.leaseOwner === null || row.leaseOwner === claim.token)
  return isSameLease && number <= row.leaseWrites
}

/** The one refusal that a lease survives: a step that was completed already. */
function wasRefused({ kept }: RunRecord, verb: OwnerVerb): boolean {
  return verb.type === 'recordStep' && !kept.steps.has(verb.step.id)
}

/** W1. */
function isOwner(row: RunRow, { claim, verb }: OwnerWrite): boolean {
  const isHeld = row.status === 'running' && row.leaseGeneration === claim.generation && row.leaseOwner === claim.token
  return isHeld && (!endsRun(verb) || (row.leaderEpoch ?? 0) === (claim.leaderEpoch ?? 0))
}

function isPossible({ row, kept }: RunRecord, verb: OwnerVerb): boolean {
  if (endsLease(verb)) return canMove(verb.type, row.status)
  return !(verb.type === 'recordStep' && verb.step.status === 'completed' && kept.completedStepNames.has(verb.step.name))
}

function perform(tables: Tables, record: RunRecord, write: OwnerWrite): void {
  const { verb } = write
  const events = eventsOf(write, tables.nowIso)
  if (endsLease(verb)) return tables.move(record, verb.type, (row) => end(row, verb, tables), events)
  if (verb.type === 'recordStep') {
    addStep(record, verb.step)
    if (verb.endsStream) tables.forgetStream(record, verb.step.name)
  }
  tables.renewLease(record.row, verb.leaseMs)
  tables.appendEvents(record, events)
}

function addStep(record: RunRecord, step: Extract<OwnerVerb, { type: 'recordStep' }>['step']): void {
  record.own.steps.set(step.id, { ...step })
  if (step.status !== 'completed') return
  record.own.completedStepNames.add(step.name)
  record.row.currentStepIndex += 1
  record.row.recoveries = 0
}

function end(row: RunRow, verb: EndingVerb, tables: Tables): void {
  const cancelledAt = tables.cancelOf(row)
  switch (verb.type) {
    case 'complete':
      row.output = verb.output
      row.error = null
      row.failure = null
      row.reason = null
      return
    case 'fail':
      row.error = verb.error
      row.failure = verb.failure
      row.reason = verb.reason
      row.attempts += 1
      return
    case 'retryLater':
      row.error = verb.error
      row.failure = verb.failure
      row.attempts += 1
      row.waitingFor = verb.waitingFor
      if (canWait(row, cancelledAt !== null)) row.runAt = verb.runAt
      return
    case 'park':
      row.waitingFor = verb.waitingFor
      if (canWait(row, cancelledAt !== null, verb.signals)) row.runAt = verb.runAt
      return
    case 'abandon':
      row.cancelRequestedAt = cancelledAt
      return
  }
}

/** A run that was asked to stop meanwhile, or got what it waits for, is claimed at once. */
function canWait(row: RunRow, isCancelled: boolean, signals = row.signals): boolean {
  return !isCancelled && row.signals <= signals
}

function accepted(tables: Tables, row: RunRow): WriteOutcome {
  return { ok: true, cancelRequested: tables.cancelOf(row) !== null }
}

function endsRun(verb: OwnerVerb): boolean {
  return endsLease(verb) && isTerminal(TRANSITIONS[verb.type].to)
}
