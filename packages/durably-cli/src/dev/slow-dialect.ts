// A dialect whose connection can be made slow, to see what jobs and pages do then.
import { setTimeout as pause } from 'node:timers/promises'
import type { DatabaseConnection, Dialect, Driver } from 'kysely'

/** For each statement that stands alone, and each transaction. */
const SLOW_MS = 300

export interface Slowness {
  isSlow: boolean
}

/** Everything but the driver is that of `dialect`, also what it says of itself. */
export function slowDialect(dialect: Dialect, slowness: Slowness): Dialect {
  return Object.create(dialect, { createDriver: { value: () => slowDriver(dialect.createDriver(), slowness) } }) as Dialect
}

function slowDriver(driver: Driver, slowness: Slowness): Driver {
  const acquireConnection = async (): Promise<DatabaseConnection> => {
    if (slowness.isSlow) await pause(SLOW_MS)
    return driver.acquireConnection()
  }
  return Object.create(driver, {
    ...Object.fromEntries(
      BOUND.map((name) => [name, { value: (...args: never[]) => (driver[name] as (...args: never[]) => unknown).apply(driver, args) }]),
    ),
    acquireConnection: { value: acquireConnection },
    // It would not wait.
    executeNow: { value: undefined },
  }) as Driver
}

/** The driver of Kysely has private fields, so its methods need the driver itself. */
const BOUND = ['init', 'beginTransaction', 'commitTransaction', 'rollbackTransaction', 'releaseConnection', 'destroy'] as const
