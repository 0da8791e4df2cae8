import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DurablyError } from '../model/errors.ts'
import { classifyError } from '../store/sql/sqlite/classify-error.ts'
import { type DatabaseSync, loadSqlite } from './database-sync.ts'

export interface OpenOptions {
  synchronous: 'FULL' | 'NORMAL'
  busyTimeoutMs: number
}

export async function openDatabase(path: string, options: OpenOptions): Promise<DatabaseSync> {
  const { DatabaseSync } = await loadSqlite()
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path)
    prepareConnection(database, options)
    return database
  } catch (thrown) {
    database?.close()
    throw explained(path, thrown)
  }
}

function prepareConnection(database: DatabaseSync, { synchronous, busyTimeoutMs }: OpenOptions): void {
  database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  try {
    database.exec('PRAGMA journal_mode = WAL')
  } catch (thrown) {
    // A file that is read-only can still be read, in the mode that it has.
    if (classifyError(thrown).code !== 'store_readonly') throw thrown
  }
  database.exec(`PRAGMA synchronous = ${synchronous}`)
  database.exec('PRAGMA foreign_keys = ON')
}

function explained(path: string, thrown: unknown): DurablyError {
  const { code, message } = classifyError(thrown)
  const name = JSON.stringify(path)
  if (code !== 'store_unavailable' || path.startsWith('file:'))
    return new DurablyError(code, `cannot open ${name}: ${message}`, { cause: thrown })
  const problem = wrongPath(path)
  if (problem) return new DurablyError('invalid_config', `cannot open ${name}: ${problem}`, { cause: thrown })
  return new DurablyError(code, `cannot open ${name}: ${isForbidden(path) ? 'permission denied' : message}`, { cause: thrown })
}

function wrongPath(path: string): string | null {
  if (kindOf(path) === 'directory') return 'it is a directory'
  const parent = dirname(path)
  const parentKind = kindOf(parent)
  if (parentKind === 'nothing') return `the directory ${JSON.stringify(parent)} does not exist; create it first`
  return parentKind === 'file' ? `${JSON.stringify(parent)} is not a directory` : null
}

function kindOf(path: string): 'directory' | 'file' | 'nothing' {
  try {
    return statSync(path).isDirectory() ? 'directory' : 'file'
  } catch {
    return 'nothing'
  }
}

function isForbidden(path: string): boolean {
  try {
    accessSync(existsSync(path) ? path : dirname(path), constants.R_OK | constants.W_OK)
    return false
  } catch {
    return true
  }
}
