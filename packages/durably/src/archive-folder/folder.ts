// Folder — the files of an archive in a folder of this machine, or of a disk that several machines share.
//   D1. A file is complete before it has its name, and on the disk before `write` resolves: file, rename, folders.
//   D2. Names stay below the root: they are checked, links are not followed, and a folder that is a link is refused.
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, realpath, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { ArchiveFiles } from '../archive/archive-files.ts'

/** Folders of letters, digits, `-` and `_`, then a file: no dot can begin a part. */
const FILE = /^(?:[\w-]{1,64}\/){1,4}[\w-]{1,200}(?:\.[\w-]{1,20}){0,3}$/
const PREFIX = /^(?:[\w-]{1,64}\/){1,4}$/

/** Not on Windows: there a link that was put in place of a file is only found by `lstat`. */
const { O_NOFOLLOW = 0 } = constants

/**
 * Keeps the files of an archive in a folder, which is created if it is missing. If several processes archive or read, each needs the same
 * folder.
 *
 * @example createDurably({ dialect, archive: { files: folder('./archive'), after: '30d' } })
 */
export function folder(path: string): ArchiveFiles {
  const given = resolve(path)

  /** The way to it, from the root: each folder exists and is no link. */
  async function existing(parts: readonly string[]): Promise<string> {
    let at = await realpath(given)
    for (const part of parts) {
      at = join(at, part)
      if (!(await lstat(at)).isDirectory()) throw new Error(`${at} is not a folder; links are not followed`)
    }
    return at
  }

  async function made(parts: readonly string[]): Promise<string> {
    await mkdir(given, { recursive: true })
    let at = await realpath(given)
    for (const part of parts) {
      if (await isMade(join(at, part))) await flush(at)
      at = join(at, part)
    }
    return existing(parts)
  }

  return {
    async write(name, bytes) {
      const parts = partsOf(name, FILE)
      const file = parts.pop() ?? ''
      const place = await made(parts)
      const draft = join(place, `${file}.${randomUUID()}.tmp`)
      try {
        await writeAll(draft, bytes)
        await rename(draft, join(place, file))
      } catch (error) {
        await rm(draft, { force: true })
        throw error
      }
      await flush(place)
    },

    async read(name) {
      const parts = partsOf(name, FILE)
      const file = parts.pop() ?? ''
      try {
        const path = join(await existing(parts), file)
        return await withFile(path, constants.O_RDONLY | O_NOFOLLOW, async (handle) => new Uint8Array(await handle.readFile()))
      } catch (error) {
        if (isMissing(error)) return null
        throw error
      }
    },

    async remove(prefix) {
      try {
        const place = await existing(partsOf(prefix, PREFIX))
        await rm(place, { recursive: true, force: true })
        await flush(dirname(place))
      } catch (error) {
        if (!isMissing(error)) throw error
      }
    },
  }
}

function partsOf(name: string, shape: RegExp): string[] {
  if (!shape.test(name)) throw new Error(`${JSON.stringify(name)} is not the name of a file in an archive`)
  return name.split('/').filter(Boolean)
}

async function isMade(path: string): Promise<boolean> {
  try {
    await mkdir(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function writeAll(path: string, bytes: Uint8Array): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL } = constants
  await withFile(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, async (handle) => {
    await handle.writeFile(bytes)
    await handle.sync()
  })
}

/** Makes the entries of a folder survive a crash. Windows has no such call. */
async function flush(path: string): Promise<void> {
  if (process.platform === 'win32') return
  await withFile(path, constants.O_RDONLY, (handle) => handle.sync())
}

async function withFile<T>(path: string, flags: number, use: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(path, flags, 0o600)
  try {
    return await use(handle)
  } finally {
    await handle.close()
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}
