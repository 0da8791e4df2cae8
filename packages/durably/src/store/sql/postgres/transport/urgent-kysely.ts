import { type Driver, Kysely } from 'kysely'
import type { OpenedSql } from '../../open-sql.ts'

/** A driver that knows priorities; `postgres()` brings one. Its `init` may be called twice. */
export interface HurryingDriver extends Driver {
  /** A connection that is asked for in `acquire` is had before all others that wait. */
  ahead<T>(acquire: () => T): T
}

/** The same connections as those of `db`, ahead of all others that wait for one; `db` itself where the driver has no such thing. */
export function urgentKysely<T>({ db, driver, dialect }: Pick<OpenedSql, 'driver' | 'dialect'> & { db: Kysely<T> }): Kysely<T> {
  if (!isHurrying(driver)) return db
  const hurried: Driver = {
    init: () => driver.init(),
    acquireConnection: () => driver.ahead(() => driver.acquireConnection()),
    beginTransaction: (connection, settings) => driver.beginTransaction(connection, settings),
    commitTransaction: (connection) => driver.commitTransaction(connection),
    rollbackTransaction: (connection) => driver.rollbackTransaction(connection),
    releaseConnection: (connection) => driver.releaseConnection(connection),
    // `db` ends it.
    async destroy() {},
  }
  return new Kysely<T>({
    dialect: {
      createDriver: () => hurried,
      createQueryCompiler: () => dialect.createQueryCompiler(),
      createAdapter: () => dialect.createAdapter(),
      createIntrospector: (db) => dialect.createIntrospector(db),
    },
  })
}

function isHurrying(driver: Driver): driver is HurryingDriver {
  return 'ahead' in driver
}
