// The audit: who did what. An operation that somebody may have recorded takes the entry as an option.
//   U1. An entry is stored in the transaction of what it records, and only if that has changed something.
//   U2. An operation that is sent again with the same arguments stores no second entry.
//   U3. With each entry that is stored, a few are removed that are older than the setting, so the table does not grow for ever.
import type { AuditAction, AuditKind } from '../../model/audit.ts'

/** The entries of the audit. */
export interface AuditStore {
  /** The entries that match, the newest first: by their time, then by their id. */
  findAudit(query: AuditQuery): Promise<AuditRow[]>
}

/** Who does something, and what. */
export interface NewAuditEntry {
  /** Its id, chosen by the caller. */
  id: string
  /** Who does it. */
  actor: string
  /** What is done. */
  action: AuditAction
  /** What kind of thing it is done to. */
  targetKind: AuditKind
  /** The id of that thing. */
  targetId: string
  /** What else is to be known of it, as JSON; null for nothing. */
  detail: string | null
}

/** The option of operations that may be recorded. */
export interface Audited {
  /** The entry that records it. Default: nothing is recorded. */
  audit?: NewAuditEntry
}

/** An entry as a store keeps it. */
export interface AuditRow extends NewAuditEntry {
  /** When it was stored, in milliseconds since 1970. */
  createdAt: number
  /** The version that the thing has after it; null if it has none, or is gone. */
  version: number | null
}

/** Which entries are wanted. Every condition that is given must hold. */
export interface AuditQuery {
  /** What it was done to. */
  target?: { kind: AuditKind; id: string }
  /** Who did it. */
  actor?: string
  /** What was done. */
  action?: AuditAction
  /** At this time or later, in milliseconds since 1970. */
  from?: number
  /** Before this time, in milliseconds since 1970. */
  before?: number
  /** Only entries that come after this one in the order of the list. */
  after?: Pick<AuditRow, 'createdAt' | 'id'>
  /** How many at most. */
  limit: number
}

/** How many old entries are removed with each one that is stored: more than one, so that a setting that was made shorter takes effect. */
export const OUTDATED_MAX = 10
