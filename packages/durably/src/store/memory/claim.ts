import type { RecordedEvent } from '../../model/event.ts'
import type { RunRow } from '../../model/run.ts'
import { decodeStreams } from '../../model/stream.ts'
import { canMove } from '../../model/transitions.ts'
import { eventOf } from '../owner-write.ts'
import type { ClaimRequest } from '../runs.ts'
import { byTurn } from './job-queue.ts'
import type { RunRecord } from './run-record.ts'
import type { Tables } from './tables.ts'

/** A run whose `cancelRequestedAt` this claim has changed, and what it was before: one statement of a database sees no other value. */
interface Asked {
  id: string
  before: number | null
}

/** `first`: the oldest run that the claim may take. */
export function claim(tables: Tables, request: ClaimRequest, first = () => firstClaimable(tables, request.jobNames)): RunRow[] {
  const { tokens } = request
  const sentBefore = adopt(tables, tokens)
  if (sentBefore.length > 0) return sentBefore
  const claimed: RunRow[] = []
  const asked: Asked[] = []
  for (const token of tokens) {
    const row = claimOne(tables, request, first(), token, asked)
    if (!row) break
    claimed.push(row)
  }
  return claimed
}

function claimOne(
  tables: Tables,
  { leaseMs, confirmMs, workerId: name }: ClaimRequest,
  record: RunRecord | undefined,
  token: string,
  asked: Asked[],
): RunRow | null {
  const { nowMs } = tables
  const workerId = name ?? null
  if (!record || !canMove('claim', record.row.status)) return null
  const { row } = record
  const generation = row.leaseGeneration + 1
  const own = () => {
    row.leaseGeneration = generation
    row.leaseOwner = token
    row.leaseExpiresAt = nowMs + leaseMs
    row.leaseWrites = 0
    row.workerId = workerId
    row.confirmMs = confirmMs || null
    const before = row.cancelRequestedAt
    const parentAsked = row.parentRunId === null ? undefined : asked.find(({ id }) => id === row.parentRunId)
    row.cancelRequestedAt = parentAsked === undefined ? tables.cancelOf(row) : (before ?? parentAsked.before)
    if (row.cancelRequestedAt !== before) asked.push({ id: row.id, before })
    row.heartbeatAt = tables.nowIso
    row.startedAt ??= nowMs
  }
  const createdAt = tables.nowIso
  const events: RecordedEvent[] = [{ type: eventOf('claim'), payload: { generation, workerId }, createdAt }]
  for (const { stepName, kept } of decodeStreams(row.streams))
    events.push({ type: 'stream:reset', payload: { stepName, to: kept }, createdAt })
  tables.move(record, 'claim', own, events)
  return { ...row }
}

function firstClaimable(tables: Tables, jobNames: readonly string[]): RunRecord | undefined {
  let first: RunRecord | undefined
  for (const jobName of jobNames) {
    const record = tables.queue(jobName)?.firstClaimable(tables.nowMs)
    if (record && (!first || byTurn(record.row, first.row) < 0)) first = record
  }
  return first
}

export function adopt(tables: Tables, tokens: readonly string[]): RunRow[] {
  const held: RunRow[] = []
  for (const token of tokens) {
    const record = tables.heldUnder(token)
    if (record) held.push({ ...record.row })
  }
  return held.sort(byTurn)
}
