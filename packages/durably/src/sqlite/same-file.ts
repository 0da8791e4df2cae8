import { statSync } from 'node:fs'
import { DurablyError } from '../model/errors.ts'
import type { DatabaseSync } from './database-sync.ts'

/**
 * Throws when the path is no longer the file that was opened: deleted, moved, or replaced by another. SQLite would go on writing to a
 * file that nobody finds any more. A database in memory has no file.
 */
export function sameFileCheck(database: DatabaseSync): () => void {
  const [main] = database.prepare('PRAGMA database_list').all() as { file: string | null }[]
  const path = main?.file
  const opened = path ? statSync(path, { throwIfNoEntry: false }) : undefined
  if (!path || !opened) return () => {}
  return () => {
    const now = statSync(path, { throwIfNoEntry: false })
    if (now?.ino === opened.ino && now.dev === opened.dev) return
    throw new DurablyError(
      'store_gone',
      `the file ${JSON.stringify(path)} was ${now ? 'replaced' : 'deleted or moved'} while it was open: what is written now would be lost. Stop this process, put the file back, and start again`,
    )
  }
}
