import type { CompiledQuery, DatabaseConnection, Dialect, QueryResult } from 'kysely'

type Reply = (query: CompiledQuery) => unknown[] | undefined

/** A dialect whose database gives some answers (or errors) of the test's own. */
export function answering(dialect: Dialect, reply: Reply): Dialect {
  return {
    createDriver() {
      const driver = dialect.createDriver()
      const acquire = driver.acquireConnection.bind(driver)
      const wrapped = new WeakMap<DatabaseConnection, DatabaseConnection>()
      const inner = new WeakMap<DatabaseConnection, DatabaseConnection>()
      const release = driver.releaseConnection.bind(driver)
      driver.acquireConnection = async () => {
        const connection = await acquire()
        const answering = wrapped.get(connection) ?? wrap(connection, reply)
        wrapped.set(connection, answering)
        inner.set(answering, connection)
        return answering
      }
      driver.releaseConnection = (connection) => release(inner.get(connection) ?? connection)
      return driver
    },
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (db) => dialect.createIntrospector(db),
  }
}

function wrap(connection: DatabaseConnection, reply: Reply): DatabaseConnection {
  return {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      const rows = reply(query)
      return rows ? { rows: rows as R[] } : connection.executeQuery<R>(query)
    },
    streamQuery: <R>(query: CompiledQuery, chunkSize?: number) => connection.streamQuery<R>(query, chunkSize),
  }
}
