// One isolated process, from its start until nothing of it is left.
//   P1. It starts with an empty environment and never as root; its arguments are not visible to what it runs.
//   P2. It ends when it has answered, says too much, takes too long, uses too much, is no longer wanted, or its worker is gone. Everything that it
//       began ends with it: bubblewrap is the first process of the namespace, and dies with its parent.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import type { Violation } from '../inside/request.ts'
import { DISK_BYTES, mounts, PROGRAM } from './mounts.ts'
import { filesSeenBy, residentBytes, treeOf } from './process-tree.ts'
import { seccompFilter } from './seccomp.ts'

export interface Isolation {
  bubblewrap: string
  /** Of the process; undefined for that of this one, which is not root. */
  uid: number | undefined
  memoryMb: number
}

export interface Ended {
  /** What it wrote. */
  output: string
  /** Why it was stopped, if it was. */
  violation?: Violation
  /** The first lines of what bubblewrap complained of. */
  complaint: string
}

const NAMESPACES = ['--unshare-all', '--unshare-user', '--disable-userns', '--hostname', 'sandbox', '--uid', '1000', '--gid', '1000']
const RIGHTS = ['--cap-drop', 'ALL', '--new-session', '--die-with-parent', '--clearenv']

/** As Base64, what a tool may say and change. */
const OUTPUT_BYTES_MAX = 24 * 1024 * 1024
const COMPLAINT_LENGTH = 2000
const WATCH_MS = 100
/** Far more than a session may keep; each costs the machine about a kilobyte. */
const FILES_MAX = 20_000
/** For a process to begin, and for a virtual shell to stop by itself. */
const GRACE_MS = 2000
/** Below the worker, which must renew its leases. */
const PRIORITY = 10

export async function runIsolated(isolation: Isolation, input: string, timeoutMs: number, signal: AbortSignal): Promise<Ended> {
  const child = start(isolation)
  const ended: Ended = { output: '', complaint: '' }
  const stop = (violation: Violation) => {
    ended.violation ??= violation
    kill(child)
  }
  const abandon = () => kill(child)
  signal.addEventListener('abort', abandon)
  const message = `The tool took longer than ${timeoutMs} ms and was stopped.`
  const timer = setTimeout(() => stop({ kind: 'time', message }), timeoutMs + GRACE_MS)
  const watch = setInterval(() => void excess(child, isolation.memoryMb).then((found) => found && stop(found)), WATCH_MS)
  try {
    collect(child, ended, stop)
    const closed = once(child, 'close')
    child.once('exit', abandon)
    child.stdin?.end(input)
    await closed
    signal.throwIfAborted()
    return ended
  } finally {
    clearTimeout(timer)
    clearInterval(watch)
    signal.removeEventListener('abort', abandon)
    kill(child)
  }
}

function start({ bubblewrap, uid }: Isolation): ChildProcess {
  if ((uid ?? process.geteuid?.()) === 0) throw new Error('a tool must not run as root')
  const filter = seccompFilter(process.arch)
  const options = [...NAMESPACES, ...RIGHTS, ...(filter ? ['--seccomp', '3'] : []), ...mounts()]
  // A group of its own, so that it can be ended as a whole even while bubblewrap begins.
  const child = spawn(bubblewrap, ['--args', '4', ...PROGRAM], {
    env: {},
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  })
  for (const stream of child.stdio) stream?.on('error', () => {})
  const [, , , filterPipe, optionsPipe] = child.stdio as (Writable | null)[]
  filterPipe?.end(filter)
  optionsPipe?.end(options.map((option) => `${option}\0`).join(''))
  if (child.pid !== undefined) lowerPriority(child.pid)
  return child
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, PRIORITY)
  } catch {
    // It has ended already.
  }
}

function collect(child: ChildProcess, ended: Ended, stop: (violation: Violation) => void): void {
  const parts: Buffer[] = []
  let bytes = 0
  child.stdout?.on('data', (part: Buffer) => {
    bytes += part.length
    if (bytes > OUTPUT_BYTES_MAX) stop({ kind: 'output', message: 'The tool said too much and was stopped.' })
    else parts.push(part)
  })
  child.stdout?.once('close', () => {
    ended.output = Buffer.concat(parts).toString('utf8')
  })
  const complaints = child.stderr as Readable
  complaints.on('data', (part: Buffer) => {
    ended.complaint = (ended.complaint + part.toString('utf8')).slice(0, COMPLAINT_LENGTH)
  })
}

/** What all its processes use together; a limit of the operating system counts each alone. */
async function excess({ pid }: ChildProcess, memoryMb: number): Promise<Violation | undefined> {
  if (pid === undefined) return undefined
  const tree = await treeOf(pid)
  if ((await residentBytes(tree)) > memoryMb * 1024 * 1024)
    return { kind: 'memory', message: `The tool used more than ${memoryMb} MB of memory and was stopped.` }
  const last = tree.at(-1) ?? pid
  const counts = await Promise.all(['/workspace', '/tmp'].map((folder) => filesSeenBy(last, folder, DISK_BYTES)))
  if (Math.max(...counts) > FILES_MAX) return { kind: 'disk', message: `The tool made more than ${FILES_MAX} files and was stopped.` }
  return undefined
}

/** The group of the process: what left it is in the namespace, which ends with its first process. */
function kill({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // All of it has ended.
  }
}
