// The client behind SQLocal's dialect, known by its shape: the core does not depend on it.
import type { Driver } from 'kysely'

export interface SqlocalClient {
  readonly config?: { databasePath?: string; processor?: unknown }
  getDatabaseInfo(): Promise<{ storageType?: string }>
  batch(statements: () => { sql: string; params: readonly unknown[] }[]): Promise<unknown>
  destroy(): Promise<void>
}

export function hasSqlocalClient(driver: Driver): driver is Driver & { client: SqlocalClient } {
  const client: unknown = Reflect.get(driver, 'client')
  if (typeof client !== 'object' || client === null) return false
  return ['getDatabaseInfo', 'batch', 'beginTransaction', 'destroy'].every((method) => typeof Reflect.get(client, method) === 'function')
}

/** Other names stand for memory or localStorage. */
export function isPath(databasePath: string | undefined): databasePath is string {
  return databasePath !== undefined && !/^(:.*:|local|session)$/.test(databasePath)
}
