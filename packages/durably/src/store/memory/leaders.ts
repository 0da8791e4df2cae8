import type { Leader, LeadOutcome, LeadRequest } from '../cluster/leaders.ts'
import { recordElection } from './audit.ts'
import type { Tables } from './tables.ts'

export function lead(tables: Tables, { workerId, token, leaseMs: otherwise }: LeadRequest): LeadOutcome {
  const { leader, nowMs, settings } = tables
  const leaseMs = settings?.value.leaderLeaseMs ?? otherwise
  const isMine = leader?.token === token
  if (leader && !isMine && leader.expiresAt > nowMs && leader.expiresAt <= nowMs + 2 * leaseMs)
    return { epoch: null, expiresInMs: leader.expiresAt - nowMs }
  const epoch = (leader?.epoch ?? 0) + (isMine ? 0 : 1)
  tables.leader = { epoch, workerId, token, electedAt: isMine ? leader.electedAt : nowMs, expiresAt: nowMs + leaseMs }
  if (!isMine) recordElection(tables, tables.leader)
  return { epoch, expiresInMs: leaseMs }
}

export function resign(tables: Tables, epoch: number): void {
  if (tables.leader?.epoch === epoch) tables.leader.expiresAt = tables.nowMs
}

export function leader({ leader, nowMs }: Tables): Leader | null {
  if (!leader) return null
  const { epoch, workerId, electedAt, expiresAt } = leader
  return { epoch, workerId, electedAt, expiresAt, expiresInMs: expiresAt - nowMs }
}
