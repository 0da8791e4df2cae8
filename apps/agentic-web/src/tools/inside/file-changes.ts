// What a tool changed in the files of a session, and whether the session may keep it. The sandbox asks this to answer the model, and the
// worker asks it again, because it does not trust the sandbox.
import type { FileChange } from '../../db/files.ts'
import type { SandboxAnswer } from './request.ts'
import { CHANGES_BYTES_MAX, PATH_LENGTH_MAX, WORKSPACE_BYTES_MAX, WORKSPACE_FILES_MAX } from './workspace-limits.ts'

type Files = ReadonlyMap<string, Uint8Array>

export function changesBetween(before: Files, now: Files): FileChange[] {
  const removed = [...before.keys()].filter((path) => !now.has(path))
  const written = [...now].filter(([path, content]) => !isEqual(content, before.get(path)))
  return [
    ...removed.map((path) => ({ path, content: null })),
    ...written.map(([path, content]) => ({ path, content: Buffer.from(content).toString('base64') })),
  ]
}

function isEqual(a: Uint8Array, b: Uint8Array | undefined): boolean {
  return b !== undefined && Buffer.compare(a, b) === 0
}

/** An answer whose changes cannot be kept changes nothing, and says why. */
export function keepable(before: Files, answer: SandboxAnswer): SandboxAnswer {
  const why = whyNotKept(before, answer.changes)
  if (why === undefined) return answer
  const message = `${why}; no file was changed`
  return { content: `${answer.content}\n${message}`, isError: true, changes: [], violation: { kind: 'workspace', message } }
}

function whyNotKept(before: Files, changes: readonly FileChange[]): string | undefined {
  const sizes = new Map([...before].map(([path, content]) => [path, content.length]))
  let changed = 0
  for (const { path, content } of changes) {
    const wrong = whyBadPath(path)
    if (wrong !== undefined) return wrong
    if (content === null) sizes.delete(path)
    else {
      const bytes = Buffer.byteLength(content, 'base64')
      sizes.set(path, bytes)
      changed += bytes
    }
  }
  const total = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0)
  if (sizes.size > WORKSPACE_FILES_MAX) return `the workspace would have ${sizes.size} files, the limit is ${WORKSPACE_FILES_MAX}`
  if (total > WORKSPACE_BYTES_MAX) return `the workspace would have ${total} bytes, the limit is ${WORKSPACE_BYTES_MAX}`
  if (changed > CHANGES_BYTES_MAX) return `one call changed ${changed} bytes of files, the limit is ${CHANGES_BYTES_MAX}`
  return undefined
}

/** A path is relative, and names what it says: databases store no NUL and no half of a character. */
function whyBadPath(path: string): string | undefined {
  if (path.length > PATH_LENGTH_MAX) return `the path of a file is longer than ${PATH_LENGTH_MAX} characters`
  if (path.includes('\0') || !path.isWellFormed()) return 'the name of a file is not valid text'
  const parts = path.split('/')
  if (parts.some((part) => part === '' || part === '.' || part === '..'))
    return `${JSON.stringify(path)} is no path inside of the workspace`
  return undefined
}
