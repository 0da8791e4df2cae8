// Finds job files where people put them.
import { readdirSync, statSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { JOB_FILE_EXTENSIONS } from '../job-file.ts'

/** Folders whose files are job files, if they have a default export. */
const FOLDERS = ['jobs', 'src/jobs']
/** Folders in which files of these names are. */
const BESIDE = ['.', 'src']
const NAMES = /^(?:jobs|durably\.jobs|[\w-]+\.jobs?)$/
const NOT_JOBS = /\.(?:test|spec|d)$/

export function findJobFiles(cwd: string): string[] {
  const found = [
    ...FOLDERS.flatMap((folder) => filesIn(cwd, folder)),
    ...BESIDE.flatMap((folder) => filesIn(cwd, folder).filter((file) => NAMES.test(withoutExtension(file)))),
  ]
  return found.filter((file) => !NOT_JOBS.test(withoutExtension(file))).map((file) => join(cwd, file))
}

function filesIn(cwd: string, folder: string): string[] {
  try {
    const names = readdirSync(join(cwd, folder)).sort()
    return names
      .filter((name) => JOB_FILE_EXTENSIONS.includes(extname(name)) && statSync(join(cwd, folder, name)).isFile())
      .map((name) => join(folder, name))
  } catch {
    return []
  }
}

function withoutExtension(file: string): string {
  return basename(file, extname(file))
}
