// Audit — who did what, for people who ask.
import { AUDIT_ACTIONS, AUDIT_KINDS, type AuditAction, type AuditEntry, type AuditKind } from '../model/audit.ts'
import { iso } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import { checkKeys, type KeysOf } from '../model/known-keys.ts'
import { checkName } from '../model/name.ts'
import { readTime } from '../model/read-time.ts'
import { type Time, wrong } from '../model/run-filter.ts'
import type { AuditQuery, AuditRow, AuditStore } from '../store/cluster/audit.ts'

/** Which entries `durably.audit.list()` returns. Every condition that is given must hold. */
export interface AuditFilter {
  /** Done to this: a run, a schedule, a worker, the settings or the leader. */
  target?: {
    /** What kind of thing. */
    kind: AuditKind
    /** Its id; `settings` and `leader` are ids of their own kind. */
    id: string
  }
  /** Done by this actor. */
  actor?: string
  /** This was done. */
  action?: AuditAction
  /** At this time or later. */
  after?: Time
  /** Before this time. */
  before?: Time
  /** How many entries are returned at most. Default 100. */
  limit?: number
  /** The last entry of the page before, as `${entry.at}/${entry.id}`. Default: the first page. */
  cursor?: string
}

const FILTER: KeysOf<AuditFilter> = { target: 1, actor: 1, action: 1, after: 1, before: 1, limit: 1, cursor: 1 }
const TARGET: KeysOf<NonNullable<AuditFilter['target']>> = { kind: 1, id: 1 }
const LIMIT_DEFAULT = 100

/** Who did what, as `durably.audit`. */
export class Audit {
  readonly #store: AuditStore | undefined

  /** Without `cluster`, the store keeps none. */
  constructor({ cluster }: { cluster: AuditStore | undefined }) {
    this.#store = cluster
  }

  /** Reads the entries that match, the newest first. */
  async list(filter: AuditFilter = {}): Promise<AuditEntry[]> {
    if (!this.#store)
      throw new DurablyError('schedules_unsupported', 'the store of this instance keeps no audit; use memoryStore(), SQLite or Postgres')
    return (await this.#store.findAudit(queryOf(filter))).map(toEntry)
  }
}

function queryOf(filter: AuditFilter): AuditQuery {
  checkKeys('audit.list', filter, FILTER)
  const { target, actor, action, after, before, limit = LIMIT_DEFAULT, cursor } = filter
  if (!(Number.isSafeInteger(limit) && limit > 0)) throw wrong('limit', 'a positive whole number', limit)
  return {
    ...(target !== undefined && { target: targetOf(target) }),
    ...(actor !== undefined && { actor: checkName('actor', actor) }),
    ...(action !== undefined && { action: oneOf('action', AUDIT_ACTIONS, action) }),
    ...(after !== undefined && { from: readTime('after', after) }),
    ...(before !== undefined && { before: readTime('before', before) }),
    ...(cursor !== undefined && { after: placeOf(cursor) }),
    limit,
  }
}

function targetOf(target: NonNullable<AuditFilter['target']>): NonNullable<AuditQuery['target']> {
  checkKeys('target', target, TARGET)
  return { kind: oneOf('target.kind', AUDIT_KINDS, target.kind), id: checkName('target.id', target.id) }
}

function oneOf<T extends string>(field: string, known: readonly T[], given: T): T {
  if (known.includes(given)) return given
  throw wrong(field, `one of ${known.join(', ')}`, given)
}

/** A cursor contains its place in the list, so it stays valid when its entry is removed. */
function placeOf(cursor: string): NonNullable<AuditQuery['after']> {
  const [at = '', ...id] = String(cursor).split('/')
  const createdAt = Date.parse(at)
  if (Number.isNaN(createdAt) || id.length === 0)
    throw wrong('cursor', 'the time and the id of an entry, with a slash between them', cursor)
  return { createdAt, id: checkName('cursor', id.join('/')) }
}

function toEntry({ id, createdAt, actor, action, targetKind, targetId, version, detail }: AuditRow): AuditEntry {
  const target = { kind: targetKind, id: targetId }
  return { id, at: iso(createdAt), actor, action, target, version, detail: detail === null ? null : JSON.parse(detail) }
}
