import { lstatSync, type Stats } from 'node:fs'
import { DurablyError } from '../model/errors.ts'
import type { DatabaseSync } from './database-sync.ts'

/**
 * Throws when the path, or that of its write-ahead log, is no longer the file that was opened: deleted, moved, or replaced by another or by
 * a link. SQLite would go on writing to a file that nobody finds any more. A database in memory has no file.
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
    // It comes with the first statement, and stays as long as a connection is open.
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

/** Whoever is alone with the file may change its mode. */
function hasLog(database: DatabaseSync): boolean {
  const [mode] = database.prepare('PRAGMA journal_mode').all() as { journal_mode: string }[]
  return mode?.journal_mode === 'wal'
}

function gone(path: string, now: Stats | undefined): DurablyError {
  return new DurablyError(
    'store_gone',
    `the file ${JSON.stringify(path)} was ${now ? 'replaced' : 'deleted or moved'} while it was open: what is written now would be lost. Stop this process, put the file back, and start again`,
  )
}
