import { isTerminal } from '../../model/run.ts'
import type { Claim } from '../owner-write.ts'
import type { Tables } from './tables.ts'

export function wasAlive(tables: Tables, { runId, generation, token }: Claim): void {
  const row = tables.records.get(runId)?.row
  if (!row || isTerminal(row.status) || row.leaseGeneration < generation || row.leaseOwner === token) return
  row.recoveries = Math.max(0, row.recoveries - 1)
}
