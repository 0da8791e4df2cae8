// The files of a session in a real folder. Nothing here follows a link, and nothing here is a boundary: that is the sandbox around it.
import { constants } from 'node:fs'
import { mkdir, open, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { WORKSPACE_BYTES_MAX, WORKSPACE_FILES_MAX } from './workspace-limits.ts'

export async function placeFiles(folder: string, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
  for (const [path, content] of files) {
    await mkdir(join(folder, dirname(path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
}

/** Only plain files. It stops soon after there are more than a session may keep; the sum then says so. */
export async function readFiles(folder: string): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>()
  const folders = ['']
  let bytes = 0
  for (let at = folders.pop(); at !== undefined && files.size <= WORKSPACE_FILES_MAX && bytes <= WORKSPACE_BYTES_MAX; at = folders.pop()) {
    for (const entry of await readdir(join(folder, at), { withFileTypes: true })) {
      const path = at === '' ? entry.name : `${at}/${entry.name}`
      if (entry.isDirectory()) folders.push(path)
      if (!entry.isFile()) continue
      const content = await readPlain(join(folder, path))
      files.set(path, content)
      bytes += content.length
      if (files.size > WORKSPACE_FILES_MAX || bytes > WORKSPACE_BYTES_MAX) break
    }
  }
  return files
}

/** A process that is still there may have replaced the file by a link or a pipe meanwhile. */
async function readPlain(path: string): Promise<Uint8Array> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    return await file.readFile()
  } finally {
    await file.close()
  }
}
