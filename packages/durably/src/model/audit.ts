/** What the audit records: what was done, and to what kind of thing. */
export const AUDIT_ACTIONS = [
  ...(['run:retry', 'run:cancel', 'run:delete', 'run:signal', 'run:decide'] as const),
  ...(['schedule:put', 'schedule:pause', 'schedule:resume', 'schedule:trigger', 'schedule:delete'] as const),
  ...(['worker:attach', 'worker:drain', 'worker:detach', 'settings:set', 'leader:elect'] as const),
]

/** What was done: the kind of thing that it was done to, and a verb. */
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

export const AUDIT_KINDS = ['run', 'schedule', 'worker', 'settings', 'leader'] as const
/** What kind of thing something was done to. Settings and the leader are one thing each, with the id `settings` or `leader`. */
export type AuditKind = (typeof AUDIT_KINDS)[number]

/** An entry of the audit, as `durably.audit.list()` returns it. */
export interface AuditEntry {
  /** The id of the entry. */
  id: string
  /** When it was done, as ISO-8601 text, on the clock of the database. */
  at: string
  /** Who did it: the `actor` of the call, over HTTP the principal; the name of the process that was elected. */
  actor: string
  /** What was done. */
  action: AuditAction
  /** What it was done to. */
  target: {
    /** What kind of thing. */
    kind: AuditKind
    /** Its id. */
    id: string
  }
  /** The version that it has since then, or the epoch of a leader; null if it has none, or is gone. */
  version: number | null
  /** What else is known of it, for example the name of a signal. Never an input, a value or an output. */
  detail: { [name: string]: unknown } | null
}
