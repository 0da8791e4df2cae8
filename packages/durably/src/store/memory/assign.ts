import { holdsKey } from '../../model/key-in-use.ts'
import type { RunRow } from '../../model/run.ts'
import { canMove } from '../../model/transitions.ts'
import type {
  AssignedRun,
  AssignRequest,
  OpenClaimRequest,
  OrphanRequest,
  UnassignedRequest,
  UnassignedRun,
} from '../cluster/assignments.ts'
import { ORPHAN_MAX } from '../cluster/assignments.ts'
import type { ClaimRequest } from '../runs.ts'
import { claim } from './claim.ts'
import { byTurn } from './job-queue.ts'
import type { RunRecord } from './run-record.ts'
import type { Tables } from './tables.ts'

export function findUnassigned(tables: Tables, { jobNames, limit }: UnassignedRequest): UnassignedRun[] {
  const keys = new Set(Array.from(tables.assigned, ({ concurrencyKey }) => concurrencyKey))
  const isFree = (key: string | null) => key === null || (!keys.has(key) && tables.holderOf(key) === undefined)
  const found: UnassignedRun[] = []
  const pending = jobNames.flatMap((jobName) => [...(tables.queue(jobName)?.pending() ?? [])])
  const due = pending.filter(({ runAt, assignedWorkerId }) => runAt <= tables.nowMs && assignedWorkerId === null)
  for (const row of due.sort(byTurn)) {
    const { id, jobName, version, concurrencyKey, preferWorkerId } = row
    if (found.length === limit) break
    if (!holdsKey(row) && !isFree(concurrencyKey)) continue
    keys.add(concurrencyKey)
    found.push({ id, jobName, version, preferWorkerId })
  }
  return found
}

export function assign(tables: Tables, { epoch, assignments }: AssignRequest): AssignedRun[] | null {
  if (tables.leader?.epoch !== epoch) return null
  return assignments.flatMap(({ runId, version, workerId }) => {
    const record = tables.records.get(runId)
    const worker = tables.workers.get(workerId)
    if (!record || !worker || worker.state !== 'attached' || worker.expiresAt <= tables.nowMs) return []
    const { row } = record
    if (!canMove('assign', row.status) || row.version !== version || row.assignedWorkerId !== null || (row.leaderEpoch ?? 0) > epoch)
      return []
    const given = () => {
      row.assignedWorkerId = workerId
      row.assignedAt = tables.nowMs
      row.assignCount += 1
      row.leaderEpoch = epoch
    }
    tables.move(record, 'assign', given, [{ type: 'run:assign', payload: { workerId }, createdAt: tables.nowIso }])
    return { id: runId, jobName: row.jobName, workerId }
  })
}

export function orphan(tables: Tables, { epoch, reassignAfterMs: otherwise }: OrphanRequest): AssignedRun[] | null {
  if (tables.leader?.epoch !== epoch) return null
  const reassignAfterMs = tables.settings?.value.reassignAfterMs ?? otherwise
  const lost = Array.from(tables.assigned).filter(({ assignedAt, assignedWorkerId }) => {
    const worker = tables.workers.get(assignedWorkerId ?? '')
    const isGone = !worker || worker.state === 'detached' || worker.expiresAt <= tables.nowMs
    return isGone && (assignedAt ?? 0) + reassignAfterMs <= tables.nowMs
  })
  return lost.slice(0, ORPHAN_MAX).flatMap((row) => takeAway(tables, row, epoch))
}

function takeAway(tables: Tables, row: RunRow, epoch: number): AssignedRun[] {
  const record = tables.records.get(row.id)
  if (!record) return []
  const workerId = row.assignedWorkerId ?? ''
  const taken = () => {
    row.assignedWorkerId = null
    row.leaderEpoch = epoch
  }
  tables.move(record, 'orphan', taken, [{ type: 'run:orphan', payload: { workerId }, createdAt: tables.nowIso }])
  return [{ id: row.id, jobName: row.jobName, workerId }]
}

export function claimAssigned(tables: Tables, request: ClaimRequest & { workerId: string }): RunRow[] {
  const { jobNames, workerId } = request
  return claim(tables, request, () => {
    const mine = Array.from(tables.assigned).filter(
      (row) =>
        row.assignedWorkerId === workerId &&
        row.runAt <= tables.nowMs &&
        jobNames.includes(row.jobName) &&
        (row.concurrencyKey === null || holdsKey(row) || tables.holderOf(row.concurrencyKey) === undefined),
    )
    const [oldest] = mine.sort(byTurn)
    return oldest && tables.records.get(oldest.id)
  })
}

export function claimOpen(tables: Tables, request: OpenClaimRequest): RunRow[] {
  return claim(tables, request, () => {
    const firsts = request.jobNames.flatMap((jobName) => firstOpen(tables, jobName, request) ?? [])
    return firsts.sort((a, b) => byTurn(a.row, b.row))[0]
  })
}

function firstOpen(tables: Tables, jobName: string, request: OpenClaimRequest): RunRecord | undefined {
  for (const record of tables.queue(jobName)?.claimable(tables.nowMs) ?? []) if (isOpen(tables, record.row, request)) return record
  return undefined
}

/** A4. */
function isOpen(tables: Tables, row: RunRow, request: OpenClaimRequest): boolean {
  if (tables.preferring.size === 0) return true
  if (isLeftToAnother(tables, row, request)) return false
  if (row.concurrencyKey === null || holdsKey(row)) return true
  const isBefore = (other: RunRow) => other.concurrencyKey === row.concurrencyKey && byTurn(other, row) < 0
  return !Array.from(tables.preferring).some((other) => isBefore(other) && isLeftToAnother(tables, other, request))
}

function isLeftToAnother(tables: Tables, { preferWorkerId, runAt }: RunRow, { workerId, preferMs }: OpenClaimRequest): boolean {
  if (preferWorkerId === null || preferWorkerId === workerId || runAt + preferMs <= tables.nowMs) return false
  const worker = tables.workers.get(preferWorkerId)
  return worker !== undefined && worker.state === 'attached' && worker.expiresAt > tables.nowMs
}
