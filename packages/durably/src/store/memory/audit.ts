import type { Audited, AuditQuery, AuditRow } from '../cluster/audit.ts'
import { OUTDATED_MAX } from '../cluster/audit.ts'
import type { Leader } from '../cluster/leaders.ts'
import { DEFAULT_SETTINGS } from '../cluster/settings.ts'
import { compareText } from './orders.ts'
import type { Tables } from './tables.ts'

/** U1 to U3. `version`: of the thing as it is now. */
export function record(tables: Tables, { audit: entry }: Audited, version: number | null): void {
  if (entry) store(tables, { ...entry, createdAt: tables.nowMs, version })
}

/** Named after its epoch, which belongs to one process. */
export function recordElection(tables: Tables, { epoch, workerId, electedAt }: Pick<Leader, 'epoch' | 'workerId' | 'electedAt'>): void {
  const target = { targetKind: 'leader', targetId: 'leader' } as const
  const entry = { id: `leader:${epoch}`, createdAt: electedAt, actor: workerId, action: 'leader:elect', ...target } as const
  store(tables, { ...entry, version: epoch, detail: null })
}

function store({ audit, nowMs, settings }: Tables, row: AuditRow): void {
  if (audit.has(row.id)) return
  audit.set(row.id, row)
  const isOld = ({ createdAt }: AuditRow) => createdAt <= nowMs - (settings?.value.auditForMs ?? DEFAULT_SETTINGS.auditForMs)
  let left = OUTDATED_MAX
  for (const oldest of audit.values()) {
    if (left-- === 0 || !isOld(oldest)) break
    audit.delete(oldest.id)
  }
}

export function findAudit({ audit }: Tables, query: AuditQuery): AuditRow[] {
  const { target, actor, action, from = 0, before = Number.POSITIVE_INFINITY, after, limit } = query
  const matches = (row: AuditRow) =>
    (!target || (row.targetKind === target.kind && row.targetId === target.id)) &&
    (actor === undefined || row.actor === actor) &&
    (action === undefined || row.action === action) &&
    row.createdAt >= from &&
    row.createdAt < before &&
    (!after || newestFirst(after, row) < 0)
  const found = Array.from(audit.values()).filter(matches).sort(newestFirst)
  return found.slice(0, limit).map((row) => ({ ...row }))
}

type Place = Pick<AuditRow, 'createdAt' | 'id'>

function newestFirst(a: Place, b: Place): number {
  return b.createdAt - a.createdAt || compareText(b.id, a.id)
}
