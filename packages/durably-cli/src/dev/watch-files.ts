import { type FSWatcher, watch } from 'node:fs'
import { dirname, extname, resolve } from 'node:path'
import { JOB_FILE_EXTENSIONS } from '../job-file.ts'

/** An editor writes a file in several steps. */
const QUIET_MS = 150

/** Calls `onChange` when a source file in a folder of these files has changed. Returns a function that ends it. */
export function watchFiles(files: readonly string[], onChange: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  const changed = (_: unknown, name: string | null) => {
    if (name !== null && ![...JOB_FILE_EXTENSIONS, '.json'].includes(extname(name))) return
    clearTimeout(timer)
    timer = setTimeout(onChange, QUIET_MS)
  }
  const watchers = [...new Set(files.map((file) => dirname(resolve(file))))].map((folder): FSWatcher => watch(folder, changed))
  return () => {
    clearTimeout(timer)
    for (const watcher of watchers) watcher.close()
  }
}
