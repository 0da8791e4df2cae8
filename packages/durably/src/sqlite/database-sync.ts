// The part of the API of node:sqlite that is used, and where to find it: it is built into Node >= 22.13, Bun and Deno. Elsewhere
// @photostructure/sqlite has the same API.
import { DurablyError } from '../model/errors.ts'
import type { Bindable } from '../store/sql/sqlite/parameters.ts'

export interface DatabaseSync {
  exec(sql: string): void
  prepare(sql: string): StatementSync
  close(): void
  /** Absent before Node 22.16. */
  readonly isTransaction?: boolean
}

export interface StatementSync {
  all(...parameters: Bindable[]): unknown[]
  run(...parameters: Bindable[]): { changes: number | bigint; lastInsertRowid: number | bigint }
  iterate(...parameters: Bindable[]): IterableIterator<unknown>
  /** Absent before Node 22.16. */
  columns?(): unknown[]
}

interface SqliteModule {
  DatabaseSync: new (path: string) => DatabaseSync
}

export async function loadSqlite(): Promise<SqliteModule> {
  return builtIn() ?? (await fromPackage())
}

function builtIn(): SqliteModule | undefined {
  try {
    return process.getBuiltinModule?.('node:sqlite') as SqliteModule | undefined
  } catch {
    return undefined
  }
}

async function fromPackage(): Promise<SqliteModule> {
  try {
    return (await import('@photostructure/sqlite')) as unknown as SqliteModule
  } catch (cause) {
    throw new DurablyError(
      'invalid_config',
      'this runtime has no node:sqlite (Node 22.13 or newer, Bun and Deno do); install @photostructure/sqlite, or pass another Kysely dialect',
      { cause },
    )
  }
}
