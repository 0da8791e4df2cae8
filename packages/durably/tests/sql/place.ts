import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Dialect } from 'kysely'
import { onTestFinished } from 'vitest'
import { type SqlStore, type SqlStoreOptions, sqlStore } from '../../src/store/sql/sql-store.ts'

/** For files that need not survive anything: in memory, where that is possible. */
export const MEMORY_DIRECTORY = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** A directory of its own, removed when the test has finished. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'durably-sql-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

export function temporaryFile(name = 'durably.db'): string {
  return join(temporaryDirectory(), name)
}

/** A store that is closed when the test has finished. */
export function openStore(dialect: Dialect, options: Omit<SqlStoreOptions, 'dialect'> = {}): SqlStore {
  const store = sqlStore({ dialect, ...options })
  onTestFinished(() => store.close())
  return store
}

export async function migratedStore(dialect: Dialect, options: Omit<SqlStoreOptions, 'dialect'> = {}): Promise<SqlStore> {
  const store = openStore(dialect, options)
  await store.migrate()
  return store
}
