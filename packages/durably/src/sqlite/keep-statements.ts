// keepStatements — a database that prepares each statement once. Kysely prepares it anew each time that it is executed.
//   P1. At most STATEMENTS_MAX statements are kept; the least recently used one is evicted.
//   P2. A statement that is kept has finished when its call returns. One whose rows are streamed (`iterate`) has not, so it is prepared for
//       that call alone.
//   P3. A statement that failed is not kept: libsql does not reset one that met a lock, and only when nobody has it any more does the
//       garbage collector end it (statement-reset-transport.ts).
import type { SqliteDatabase, SqliteStatement } from 'kysely'
import { LruMap } from '../model/lru-map.ts'

/** The store has about 40 statements; the rest is for the user's own queries on the same connection. */
const STATEMENTS_MAX = 200

/**
 * Keeps the prepared statements of a database that you give to Kysely's `SqliteDialect`, such as one of better-sqlite3 or libsql.
 *
 * @example const dialect = new SqliteDialect({ database: keepStatements(new Database('app.db')) })
 */
export function keepStatements(database: SqliteDatabase): SqliteDatabase {
  const statements = new LruMap<string, SqliteStatement>(STATEMENTS_MAX)

  function prepared(sql: string): SqliteStatement {
    const statement = database.prepare(sql)
    const kept = <T>(execute: () => T): T => {
      try {
        return execute()
      } catch (error) {
        statements.delete(sql)
        throw error
      }
    }
    return {
      reader: statement.reader,
      all: (parameters) => kept(() => statement.all(parameters)),
      run: (parameters) => kept(() => statement.run(parameters)),
      iterate: (parameters) => database.prepare(sql).iterate(parameters),
    }
  }

  return {
    prepare(sql) {
      const known = statements.get(sql)
      if (known) return known
      const statement = prepared(sql)
      statements.set(sql, statement)
      return statement
    },
    close() {
      statements.clear()
      database.close()
    },
  }
}
