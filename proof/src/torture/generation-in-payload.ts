import type { DatabaseConnection, Dialect, Driver } from 'kysely'
import { RUN_COLUMNS } from '../../../packages/durably/dist/store/sql/shared/rows.js'

/** A job function cannot ask for its generation. So it is put into the payload of each claimed row, where every execution finds its own. */
export function generationInPayload(dialect: Dialect): Dialect {
  return new Proxy(dialect, {
    get(target, name) {
      if (name === 'createDriver') return () => patchedDriver(target.createDriver())
      const value: unknown = Reflect.get(target, name)
      // Private fields are those of the dialect, not of its proxy.
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** What a driver can do past its connections: see `SynchronousDriver`. */
interface ExecutesNow extends Driver {
  executeNow?(...queries: unknown[]): object[][] | undefined
}

function patchedDriver(driver: ExecutesNow): Driver {
  const patched = new WeakSet<DatabaseConnection>()
  const acquire = driver.acquireConnection.bind(driver)
  driver.acquireConnection = async () => {
    const connection = await acquire()
    if (!patched.has(connection)) patch(connection)
    patched.add(connection)
    return connection
  }
  const executeNow = driver.executeNow?.bind(driver)
  if (executeNow) driver.executeNow = (...queries) => executeNow(...queries)?.map((rows) => rows.map(withGeneration))
  return driver
}

function patch(connection: DatabaseConnection): void {
  const execute = connection.executeQuery.bind(connection)
  connection.executeQuery = async <R>(...query: Parameters<typeof execute>) => {
    const result = await execute<R>(...query)
    return { ...result, rows: result.rows.map((row) => withGeneration(row)) }
  }
}

function withGeneration<R>(row: R): R {
  const { status, payload, lease_generation: generation, columns } = row as Record<string, unknown>
  if (typeof columns === 'string') return { ...row, columns: withGenerationInArray(columns) }
  if (status !== 'running' || typeof payload !== 'string') return row
  return { ...row, payload: payloadWith(payload, generation) }
}

/** SQLite answers with each claimed run as one JSON array. */
function withGenerationInArray(columns: string): string {
  const values: unknown[] = JSON.parse(columns)
  const [payload, generation] = ['payload', 'lease_generation'].map((column) => RUN_COLUMNS.indexOf(column)) as [number, number]
  values[payload] = payloadWith(String(values[payload]), values[generation])
  return JSON.stringify(values)
}

function payloadWith(payload: string, generation: unknown): string {
  return JSON.stringify({ ...JSON.parse(payload), generation: Number(generation) })
}
