import type { RecordedEvent } from '../../model/event.ts'
import type { RunRow } from '../../model/run.ts'
import { decodeStreams } from '../../model/stream.ts'
import { canMove } from '../../model/transitions.ts'
import { eventOf } from '../owner-write.ts'
import type { ClaimRequest } from '../runs.ts'
import { byTurn } from './job-queue.ts'
import type { Tables } from './tables.ts'

/** `first`: the oldest run that the claim may take. */
export function claim(tables: Tables, request: ClaimRequest, first = () => firstClaimable(tables, request.jobNames)): RunRow[] {
  const { tokens } = request
  const sentBefore = adopt(tables, tokens)
  if (sentBefore.length > 0) return sentBefore
  const claimed: RunRow[] = []
  /** `cancelRequestedAt` of each run in which this claim has changed it, as it was before: one statement of a database sees no other value. */
  const asked = new Map<string, number | null>()
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
  row: RunRow | undefined,
  token: string,
  asked: Map<string, number | null>,
): RunRow | null {
  const { nowMs } = tables
  const workerId = name ?? null
  const record = row && tables.records.get(row.id)
  if (!record || !canMove('claim', row.status)) return null
  const generation = row.leaseGeneration + 1
  const own = () => {
    row.leaseGeneration = generation
    row.leaseOwner = token
    row.leaseExpiresAt = nowMs + leaseMs
    row.leaseWrites = 0
    row.workerId = workerId
    row.confirmMs = confirmMs || null
    const before = row.cancelRequestedAt
    const parentAsked = row.parentRunId === null ? undefined : asked.get(row.parentRunId)
    row.cancelRequestedAt = parentAsked === undefined ? tables.cancelOf(row) : (before ?? parentAsked)
    if (row.cancelRequestedAt !== before) asked.set(row.id, before)
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

function firstClaimable(tables: Tables, jobNames: readonly string[]): RunRow | undefined {
  let first: RunRow | undefined
  for (const jobName of jobNames) {
    const row = tables.queue(jobName)?.firstClaimable(tables.nowMs)
    if (row && (!first || byTurn(row, first) < 0)) first = row
  }
  return first
}

export function adopt(tables: Tables, tokens: readonly string[]): RunRow[] {
  const held: RunRow[] = []
  for (const token of tokens) {
    const row = tables.heldUnder(token)
    if (row) held.push({ ...row })
  }
  return held.sort(byTurn)
}
