import type { CompiledQuery, Driver } from 'kysely'
import type { Row } from '../../shared/session.ts'

/** A driver that can do its work within the call: nothing else in this process happens meanwhile, and no promise is needed. */
export interface SynchronousDriver extends Driver {
  /** Whether a transaction is open on the connection. While nobody has the connection, it is one that somebody has left open. */
  readonly inTransaction: boolean
  /**
   * Runs one statement, or several as one transaction that holds the write lock from its start, and returns the rows of each. Undefined
   * while somebody else has the connection or waits for it, because then the caller has to wait as well. Also undefined if somebody has left
   * a transaction open that has to be rolled back first. `onFailedRollback` is called when its own transaction may still be open.
   */
  executeNow(queries: readonly CompiledQuery[], onFailedRollback: () => void): Row[][] | undefined
}

export function isSynchronous(driver: Driver): driver is SynchronousDriver {
  return 'executeNow' in driver && driver.executeNow !== undefined
}
