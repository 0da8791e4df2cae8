// A process of the fleet, seen from its parent: it can be killed, frozen and woken.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { REPO } from '../engine-build.ts'
import type { MemberSetup } from './member.ts'

export type Role = 'api' | 'worker'

const STDERR_KEPT = 4000

export class FleetProcess {
  readonly name: string
  readonly port: number
  readonly #child: ChildProcess
  #asked = false

  private constructor(name: string, child: ChildProcess, port: number) {
    this.name = name
    this.#child = child
    this.port = port
  }

  static async start(role: Role, setup: MemberSetup): Promise<FleetProcess> {
    const child = fork(join(REPO, 'proof', 'dist', 'fleet', `${role}.js`), [JSON.stringify(setup)], {
      execArgv: ['--no-warnings'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    let stderr = ''
    child.stderr?.on('data', (text) => {
      stderr = `${stderr}${text}`.slice(-STDERR_KEPT)
    })
    const port = await new Promise<number>((resolve, reject) => {
      child.once('message', (message: { port?: number }) => resolve(message.port ?? 0))
      child.once('exit', (code) => reject(new Error(`${setup.name} ended with ${code} before it was ready: ${stderr}`)))
    })
    const member = new FleetProcess(setup.name, child, port)
    child.once('exit', (code, signal) => {
      if (!member.#asked) throw new Error(`${setup.name} ended by itself with ${signal ?? code}: ${stderr}`)
    })
    return member
  }

  async kill(): Promise<void> {
    this.#asked = true
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }

  freeze(): void {
    this.#child.kill('SIGSTOP')
  }

  wake(): void {
    this.#child.kill('SIGCONT')
  }
}
