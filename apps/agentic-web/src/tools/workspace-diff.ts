// Puts the files of a session into a virtual file system, and finds what changed in it afterwards.
import type { IFileSystem } from 'just-bash'
import { type FileChange, WORKSPACE_BYTES_MAX, WORKSPACE_FILES_MAX } from '../db/files.ts'

export const WORKSPACE = '/workspace'

/** Of one call of a tool: its recorded output carries the changed files. */
const CHANGES_BYTES_MAX = 4 * 1024 * 1024
const PATH_LENGTH_MAX = 512

export async function placeFiles(fs: IFileSystem, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
  await fs.mkdir(WORKSPACE, { recursive: true })
  for (const [path, content] of files) {
    const full = `${WORKSPACE}/${path}`
    await fs.mkdir(full.slice(0, full.lastIndexOf('/')), { recursive: true })
    await fs.writeFile(full, content)
  }
}

/** Only plain files are kept: a link or an empty directory does not outlive the call. */
export async function changesSince(
  fs: IFileSystem,
  before: ReadonlyMap<string, Uint8Array>,
): Promise<{ changes: FileChange[] } | { refused: string }> {
  const now = new Map<string, Uint8Array>()
  for (const full of fs.getAllPaths()) {
    if (!full.startsWith(`${WORKSPACE}/`) || !(await fs.lstat(full)).isFile) continue
    const path = full.slice(WORKSPACE.length + 1)
    if (path.length > PATH_LENGTH_MAX || path.includes('\0'))
      return { refused: `the path of a file is longer than ${PATH_LENGTH_MAX} characters` }
    now.set(path, await fs.readFileBuffer(full))
  }
  const written = [...now].filter(([path, content]) => !equal(content, before.get(path)))
  const removed = [...before.keys()].filter((path) => !now.has(path))
  const total = sizeOf(now.values())
  if (now.size > WORKSPACE_FILES_MAX) return { refused: `the workspace would have ${now.size} files, the limit is ${WORKSPACE_FILES_MAX}` }
  if (total > WORKSPACE_BYTES_MAX) return { refused: `the workspace would have ${total} bytes, the limit is ${WORKSPACE_BYTES_MAX}` }
  const changed = sizeOf(written.map(([, content]) => content))
  if (changed > CHANGES_BYTES_MAX) return { refused: `one call changed ${changed} bytes of files, the limit is ${CHANGES_BYTES_MAX}` }
  return {
    changes: [
      ...removed.map((path) => ({ path, content: null })),
      ...written.map(([path, content]) => ({ path, content: Buffer.from(content).toString('base64') })),
    ],
  }
}

function equal(a: Uint8Array, b: Uint8Array | undefined): boolean {
  return b !== undefined && Buffer.compare(a, b) === 0
}

function sizeOf(contents: Iterable<Uint8Array>): number {
  let bytes = 0
  for (const content of contents) bytes += content.length
  return bytes
}
