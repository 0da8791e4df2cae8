// The program itself, as a process of its own. `npm test` compiles it first.
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const BIN = fileURLToPath(new URL('../dist/bin.js', import.meta.url))
export const JOBS = fileURLToPath(new URL('./fixtures/jobs.ts', import.meta.url))

export interface Program {
  child: ChildProcess
  pid: number
  out: () => string
  err: () => string
  /** Resolves with what matched, once the output has it. */
  says(pattern: RegExp): Promise<RegExpExecArray>
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; out: string; err: string }>
}

export function start(args: readonly string[], options: { cwd?: string; env?: Record<string, string> } = {}): Program {
  const env = { ...process.env, DURABLY_DB: '', DATABASE_URL: '', NO_COLOR: '', ...options.env }
  const child = spawn(process.execPath, ['--no-warnings', BIN, ...args], { ...options, env, stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said = { out: '', err: '' }
  const changed = new Set<() => void>()
  const listen = (stream: 'out' | 'err') => (text: string) => {
    said[stream] += text
    for (const look of changed) look()
  }
  child.stdout.setEncoding('utf8').on('data', listen('out'))
  child.stderr.setEncoding('utf8').on('data', listen('err'))
  const ended = new Promise<Awaited<Program['ended']>>((resolve) =>
    child.once('close', (code, signal) => {
      resolve({ code, signal, ...said })
      for (const look of changed) look()
    }),
  )
  const says = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(said.out + said.err)
        if (found) resolve(found)
        else if (child.exitCode !== null) reject(new Error(`it ended without ${pattern}:\n${said.out}${said.err}`))
        else return
        changed.delete(look)
      }
      changed.add(look)
      look()
    })
  return { child, pid: child.pid ?? 0, out: () => said.out, err: () => said.err, says, ended }
}
