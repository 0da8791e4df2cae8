import type { CompiledQuery, Driver } from 'kysely'
import type { Row } from '../../shared/session.ts'

/** A driver that can do its work within the call: nothing else in this process happens meanwhile, and no promise is needed. */
export interface SynchronousDriver extends Driver {
  /**
   * Runs one statement, or several as one transaction that holds the write lock from its start, and returns the rows of each. Undefined
   * while somebody else has the connection, or waits for it: then the caller has to wait, too. `onFailedRollback` is called when
   * its transaction may still be open.
   */
  executeNow(queries: readonly CompiledQuery[], onFailedRollback: () => void): Row[][] | undefined
}

export function isSynchronous(driver: Driver): driver is SynchronousDriver {
  return 'executeNow' in driver && driver.executeNow !== undefined
}
