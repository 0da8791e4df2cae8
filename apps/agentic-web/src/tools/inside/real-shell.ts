// Runs a command in a real shell on real files. Only for a process that is isolated: the folder, the limits of the file systems and the namespaces
// are made by whoever started it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { changesBetween, keepable } from './file-changes.ts'
import type { ProcessRequest } from './process-messages.ts'
import { placeFiles, readFiles } from './real-files.ts'
import type { SandboxAnswer, SandboxRequest, Violation, ViolationKind } from './request.ts'
import { OUTPUT_BYTES_MAX, WORKSPACE_BYTES_MAX } from './workspace-limits.ts'

const WORKSPACE = '/workspace'
const OUTPUT = '/tmp/.output'
const ENV = { HOME: WORKSPACE, PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C.UTF-8', TMPDIR: '/tmp' }

type RealRequest = SandboxRequest & Pick<ProcessRequest, 'memoryMb' | 'processes'>

export async function workReally(request: RealRequest): Promise<SandboxAnswer> {
  const { files, task } = request
  if (task.tool !== 'bash') throw new Error('a real shell does bash only')
  await placeFiles(WORKSPACE, files)
  // Both outputs in one file, in the order in which they were written. A pipe would stay open as long as anything that the command left behind.
  const output = await open(OUTPUT, 'ax+')
  const shell = spawn('/bin/bash', ['-c', `${ulimits(request)}; exec /bin/bash -c "$0"`, task.args.command], {
    cwd: WORKSPACE,
    env: ENV,
    stdio: ['ignore', output.fd, output.fd],
  })
  const [code, signal] = (await once(shell, 'exit')) as [number | null, NodeJS.Signals | null]
  const { bytesRead, buffer } = await output.read(Buffer.alloc(OUTPUT_BYTES_MAX + 1), 0, OUTPUT_BYTES_MAX + 1, 0)
  const said = buffer.subarray(0, Math.min(bytesRead, OUTPUT_BYTES_MAX)).toString('utf8')
  const exit = code === 0 ? '' : `\n(${signal ?? `exit code ${code}`})`
  const violation = violationOf(said, bytesRead, signal)
  const outcome = { content: `${said}${exit}`, isError: code !== 0, ...(violation && { violation }) }
  return keepable(files, { ...outcome, changes: changesBetween(files, await readFiles(WORKSPACE)) })
}

/** Of each process; what all of them may have together is watched from outside. The address space is larger than what is used of it. */
function ulimits({ memoryMb, processes, timeoutMs }: RealRequest): string {
  const fileBlocks = WORKSPACE_BYTES_MAX / 1024
  return [
    `ulimit -v ${memoryMb * 1024 * 2}`,
    `ulimit -u ${processes}`,
    `ulimit -f ${fileBlocks}`,
    `ulimit -t ${Math.ceil(timeoutMs / 1000) + 1}`,
    'ulimit -n 256',
    'ulimit -c 0',
  ].join(' && ')
}

/** How the operating system ends a process at a limit, in the words of a shell. Of processor time it is ended without a word. */
const BY_SIGNAL: Partial<Record<NodeJS.Signals, string>> = {
  SIGSYS: 'Bad system call',
  SIGXFSZ: 'File size limit exceeded',
  SIGXCPU: 'CPU time limit exceeded',
  SIGKILL: 'CPU time limit exceeded',
}

/** What the operating system says when a limit is reached. */
const WORDS: readonly [RegExp, ViolationKind, string][] = [
  [/Bad system call/, 'system_call', 'The command asked the operating system for something that no tool needs, and was stopped.'],
  [/CPU time limit exceeded/, 'time', 'The command used more processor time than it may have.'],
  [/Resource temporarily unavailable/, 'processes', 'The command wanted more processes than it may have.'],
  [/File size limit exceeded|No space left on device/, 'disk', 'The command wanted to write more than it may.'],
  [/Cannot allocate memory|MemoryError/, 'memory', 'The command wanted more memory than it may have.'],
]

function violationOf(said: string, bytes: number, signal: NodeJS.Signals | null): Violation | undefined {
  if (bytes > OUTPUT_BYTES_MAX)
    return { kind: 'output', message: `The command said more than ${OUTPUT_BYTES_MAX} bytes; the rest is lost.` }
  const name = (signal && BY_SIGNAL[signal]) ?? said.slice(-10_000)
  const [, kind, message] = WORDS.find(([words]) => words.test(name)) ?? []
  return kind && message ? { kind, message } : undefined
}
