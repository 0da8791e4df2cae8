import type { DatabaseConnection, Driver } from 'kysely'
import type { HurryingDriver } from '../store/sql/postgres/transport/urgent-kysely.ts'
import type { ConnectionLimit } from './connection-limit.ts'

/** A driver of Kysely that takes its connections within a limit, for the store and for the queries of the user alike. */
export function limitedDriver(driver: Driver, limit: ConnectionLimit): HurryingDriver {
  const releases = new WeakMap<DatabaseConnection, () => void>()
  let ready: Promise<void> | undefined
  let isUrgent = false

  return {
    // Two instances of Kysely share the driver.
    init: () => {
      ready ??= driver.init()
      return ready
    },
    async acquireConnection() {
      const release = await limit.acquire(isUrgent)
      try {
        const connection = await driver.acquireConnection()
        releases.set(connection, release)
        return connection
      } catch (error) {
        release()
        throw error
      }
    },
    async releaseConnection(connection) {
      try {
        await driver.releaseConnection(connection)
      } finally {
        releases.get(connection)?.()
      }
    },
    // `acquireConnection` reads the flag in the same turn, so no other call can see it.
    ahead(acquire) {
      isUrgent = true
      try {
        return acquire()
      } finally {
        isUrgent = false
      }
    },
    beginTransaction: (connection, settings) => driver.beginTransaction(connection, settings),
    commitTransaction: (connection) => driver.commitTransaction(connection),
    rollbackTransaction: (connection) => driver.rollbackTransaction(connection),
    destroy: () => driver.destroy(),
  }
}
