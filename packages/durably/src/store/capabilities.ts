/**
 * What this tab is to the database that all tabs share: `leader` has it open, a `follower` reaches it through the leader.
 * `leader-frozen`: the tab that has it open does not answer. `idle`: nobody here has used it yet.
 */
export type TabRole = 'leader' | 'follower' | 'leader-frozen' | 'idle'

/** A dialect whose database is open in one tab and used by several. */
export interface TabDialect {
  readonly role: TabRole
}
