/**
 * The role of this tab for the database that all tabs share. The `host` has the database open; a `guest` reaches it through the host.
 * `host-frozen`: this tab is a guest, and the host does not answer. `idle`: this tab has not used the database yet.
 */
export type TabRole = 'host' | 'guest' | 'host-frozen' | 'idle'

/** A dialect whose database is open in one tab and used by several. */
export interface TabDialect {
  readonly role: TabRole
}
