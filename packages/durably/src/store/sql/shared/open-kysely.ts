import { type Dialect, type Driver, Kysely } from 'kysely'
import type { DurablyTables } from './schema.ts'

/** Kysely keeps its driver to itself; some drivers must be looked at. */
export function openKysely(dialect: Dialect): { db: Kysely<DurablyTables>; driver: Driver } {
  let driver: Driver | undefined
  const db = new Kysely<DurablyTables>({
    dialect: {
      createDriver() {
        driver = dialect.createDriver()
        return driver
      },
      createQueryCompiler: () => dialect.createQueryCompiler(),
      createAdapter: () => dialect.createAdapter(),
      createIntrospector: (db) => dialect.createIntrospector(db),
    },
  })
  if (!driver) throw new TypeError('Kysely did not ask its dialect for a driver')
  return { db, driver }
}
