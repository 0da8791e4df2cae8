// A role in a process of its own. It is started again when it ends by itself, so that one can kill a worker and watch another take over.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('./main.js', import.meta.url))
const AGAIN_MS = 1000

export class ChildRole {
  readonly #name: string
  readonly #role: string
  readonly #env: Record<string, string>
  #child: ChildProcess | undefined
  #isEnding = false
  #starts = 0

  constructor(name: string, role: string, env: Record<string, string>) {
    this.#name = name
    this.#role = role
    this.#env = env
  }

  /** Resolves with its port when it is ready. */
  async start(): Promise<number> {
    // In a group of its own: Ctrl-C reaches the parent alone, which ends its children in order.
    const env = { ...process.env, ...this.#env, ...this.#workerId() }
    const child = fork(MAIN, [this.#role], { execArgv: ['--no-warnings'], env, detached: true })
    this.#child = child
    child.once('exit', (code, signal) => this.#ended(signal ?? code))
    const port = await Promise.race([
      once(child, 'message').then(([message]: { port: number }[]) => message?.port ?? 0),
      once(child, 'exit').then(() => {
        throw new Error(`${this.#name} ended before it was ready`)
      }),
    ])
    console.log(`  ${this.#name}: process ${child.pid}`)
    // Whoever knows its port finds it there again.
    if (port > 0) this.#env.PORT = String(port)
    return port
  }

  /** A name that is new with each start: that of a worker which was killed stays in the register for a while. */
  #workerId(): Record<string, string> {
    this.#starts += 1
    const { WORKER_ID } = this.#env
    return WORKER_ID === undefined || this.#starts === 1 ? {} : { WORKER_ID: `${WORKER_ID}.${this.#starts}` }
  }

  async end(): Promise<void> {
    this.#isEnding = true
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }

  #ended(how: string | number | null): void {
    if (this.#isEnding) return
    console.log(`  ${this.#name} ended (${how}); it is started again`)
    setTimeout(() => {
      if (!this.#isEnding) this.start().catch((error) => console.error(String(error)))
    }, AGAIN_MS)
  }
}
