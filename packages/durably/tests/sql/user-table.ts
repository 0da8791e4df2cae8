import { CompiledQuery, type Kysely, PostgresAdapter } from 'kysely'
import type { SqlStore } from '../../src/store/sql/sql-store.ts'
import type { UserTable } from '../../src/testing/store-contract/index.ts'

/** A table beside those of the store, empty. */
export async function userTable({ db }: SqlStore): Promise<UserTable> {
  const over = async (trx: unknown, sql: string, values: unknown[] = []) =>
    (trx as Kysely<unknown>).executeQuery(CompiledQuery.raw(sql, values))
  const hole = db.getExecutor().adapter instanceof PostgresAdapter ? '$1' : '?'
  await over(db, 'CREATE TABLE IF NOT EXISTS user_rows (value TEXT NOT NULL)')
  await over(db, 'DELETE FROM user_rows')
  return {
    transaction: (body) => db.transaction().execute(body),
    insert: (trx, value) => over(trx, `INSERT INTO user_rows (value) VALUES (${hole})`, [value]),
    remove: (trx, value) => over(trx, `DELETE FROM user_rows WHERE value = ${hole}`, [value]),
    breakRules: (trx) => over(trx, 'INSERT INTO user_rows (value) VALUES (NULL)'),
    nested: async (trx) => (trx as Kysely<unknown>).transaction().execute(async () => {}),
    async values() {
      const { rows } = await over(db, 'SELECT value FROM user_rows ORDER BY value')
      return (rows as { value: string }[]).map(({ value }) => value)
    },
  }
}
