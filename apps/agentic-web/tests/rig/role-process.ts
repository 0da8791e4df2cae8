// A role of the program in a real process that can be killed.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const MAIN = fileURLToPath(new URL('../../dist/roles/main.js', import.meta.url))

export class RoleProcess {
  readonly #child: ChildProcess
  readonly port: number

  readonly #said: () => string

  private constructor(child: ChildProcess, port: number, said: () => string) {
    this.#child = child
    this.port = port
    this.#said = said
  }

  static async start(role: string, env: Record<string, string>): Promise<RoleProcess> {
    const child = fork(MAIN, [role], {
      execArgv: ['--no-warnings'],
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (text) => {
        said += text
      })
    const ready = once(child, 'message').then(([message]: { port: number }[]) => message?.port ?? 0)
    const ended = once(child, 'exit').then(() => Promise.reject(new Error(`${role} ended before it was ready: ${said}`)))
    const port = await Promise.race([ready, ended])
    ended.catch(() => {})
    return new RoleProcess(child, port, () => said)
  }

  /** Everything that it has printed. */
  get log(): string {
    return this.#said()
  }

  /** Resolves when the process is gone, however that came. */
  async ended(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit')
  }

  /** Stops or wakes the process. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal)
  }

  /** In bytes. Of Linux. */
  residentMemory(): number {
    const [, kib] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${this.#child.pid}/status`, 'utf8')) ?? []
    return Number(kib) * 1024
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Resolves with the exit code when the process is gone. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = once(this.#child, 'exit')
      this.#child.kill(signal)
      await ended
    }
    return this.#child.exitCode
  }
}
