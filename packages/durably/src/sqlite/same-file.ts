import { lstatSync, type Stats } from 'node:fs'
import { DurablyError } from '../model/errors.ts'
import type { DatabaseSync } from './database-sync.ts'

/**
 * Throws when the database file or its write-ahead log is no longer the file that was opened, because it was deleted, moved, or replaced
 * by another file or a link. SQLite would go on writing to a file that has no name any more. A database in memory has no file.
 */
export function sameFileCheck(database: DatabaseSync): () => void {
  const [main] = database.prepare('PRAGMA database_list').all() as { file: string | null }[]
  const path = main?.file
  const opened = path ? look(path) : undefined
  if (!path || !opened) return () => {}
  const logPath = `${path}-wal`
  let log: Stats | undefined
  return () => {
    const now = look(path)
    if (!isSame(now, opened)) throw gone(path, now)
    const logNow = look(logPath)
    // The log exists from the first statement until the last connection is closed.
    log ??= logNow
    if (!log || isSame(logNow, log)) return
    if (hasLog(database)) throw gone(logPath, logNow)
    log = undefined
  }
}

function look(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}

function isSame(now: Stats | undefined, then: Stats): boolean {
  return now?.ino === then.ino && now.dev === then.dev
}

/** A process that is the only one to have the file open may change its journal mode, and the log is removed. */
function hasLog(database: DatabaseSync): boolean {
  const [mode] = database.prepare('PRAGMA journal_mode').all() as { journal_mode: string }[]
  return mode?.journal_mode === 'wal'
}

function gone(path: string, now: Stats | undefined): DurablyError {
  return new DurablyError(
    'store_gone',
    `the file ${JSON.stringify(path)} was ${now ? 'replaced' : 'deleted or moved'} while it was open, so new writes would be lost. Stop this process, put the file back, and start it again`,
  )
}
