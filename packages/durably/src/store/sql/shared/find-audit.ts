// Reads the audit. Each condition has an index that is in the order of the list.
import { sql } from 'kysely'
import { AUDIT_ACTIONS, AUDIT_KINDS } from '../../../model/audit.ts'
import type { AuditQuery, AuditRow, AuditStore } from '../../cluster/audit.ts'
import type { LazyDeps } from './lazy-deps.ts'

export function sqlAudit({ db, session, tables: t, reader }: LazyDeps): AuditStore {
  const auditRow = (read: ReturnType<LazyDeps['reader']>): AuditRow => ({
    id: read.text('id'),
    createdAt: read.integer('created_at'),
    actor: read.text('actor'),
    action: read.oneOf('action', AUDIT_ACTIONS),
    targetKind: read.oneOf('target_kind', AUDIT_KINDS),
    targetId: read.text('target_id'),
    version: read.integerOrNull('version'),
    detail: read.textOrNull('detail'),
  })

  return {
    async findAudit(query) {
      const where = sql.join(conditionsOf(query), sql` AND `)
      const find = sql`SELECT * FROM ${t.audit} WHERE ${where} ORDER BY created_at DESC, id DESC LIMIT CAST(${query.limit} AS bigint)`
      return (await session.read(find.compile(db))).map((row) => auditRow(reader('audit', row.id, row)))
    },
  }
}

function conditionsOf({ target, actor, action, from = 0, before, after }: AuditQuery) {
  const conditions = [sql`created_at >= ${from}`]
  if (target) conditions.push(sql`target_kind = ${target.kind} AND target_id = ${target.id}`)
  if (actor !== undefined) conditions.push(sql`actor = ${actor}`)
  if (action !== undefined) conditions.push(sql`action = ${action}`)
  if (before !== undefined) conditions.push(sql`created_at < ${before}`)
  if (after) conditions.push(sql`(created_at, id) < (${after.createdAt}, ${after.id})`)
  return conditions
}
