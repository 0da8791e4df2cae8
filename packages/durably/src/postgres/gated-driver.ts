import type { DatabaseConnection, Driver } from 'kysely'
import type { HurryingDriver } from '../store/sql/dialect/postgres/urgent-kysely.ts'
import type { Gate } from './gate.ts'

/** A driver of Kysely whose connections are had through a gate, by the store and by queries of the user alike. */
export function gatedDriver(driver: Driver, gate: Gate): HurryingDriver {
  const exits = new WeakMap<DatabaseConnection, () => void>()
  let ready: Promise<void> | undefined
  let isUrgent = false

  return {
    // Two instances of Kysely use it.
    init: () => {
      ready ??= driver.init()
      return ready
    },
    async acquireConnection() {
      const exit = await gate.enter(isUrgent)
      try {
        const connection = await driver.acquireConnection()
        exits.set(connection, exit)
        return connection
      } catch (error) {
        exit()
        throw error
      }
    },
    async releaseConnection(connection) {
      try {
        await driver.releaseConnection(connection)
      } finally {
        exits.get(connection)?.()
      }
    },
    // Asked in the same turn, so nobody else can take it for theirs.
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
