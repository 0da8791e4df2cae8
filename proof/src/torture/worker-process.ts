// WorkerProcess — controls one worker process for its parent, from its start to its end.
//   P1. It ends when it is killed or stopped. If it ends by itself, or does not end when it is asked to, that is a violation.
//   P2. A process of its own suspends it and wakes it again, so that a parent that dies leaves no frozen process.
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { REPO } from '../engine-build.ts'
import { sharedClock } from './ledger.ts'
import type { FromWorker, ToWorker, WorkerSetup } from './worker.ts'

/** The compiled file, also when the parent runs from its source. */
const WORKER = join(REPO, 'proof', 'dist', 'torture', 'worker.js')
const STDERR_KEPT = 2000
/** A worker that takes longer to stop executes a run that does not end. */
const STOP_MS_MAX = 20_000

export class WorkerProcess {
  readonly name: string
  readonly role: WorkerSetup['role']
  readonly #child: ChildProcess
  readonly ended: Promise<void>
  /** Why it ended, if it was not asked to. */
  endedByItself: string | null = null
  diedAt: number | null = null
  /** It was asked to end, and had to be killed. */
  wouldNotStop = false
  #ready = false
  #asked = false
  #pause: Promise<void> | null = null
  #stderr = ''

  constructor(setup: WorkerSetup) {
    this.name = setup.name
    this.role = setup.role
    this.#child = fork(WORKER, { execArgv: ['--no-warnings'], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    this.#child.stderr?.on('data', (text) => {
      this.#stderr = `${this.#stderr}${text}`.slice(-STDERR_KEPT)
    })
    this.#child.on('message', ({ type }: FromWorker) => {
      if (type === 'ready') this.#ready = true
    })
    // A pipe may break in the middle of a message; the event `exit` reports the end itself.
    this.#child.on('error', () => {})
    this.ended = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        this.#end(code, signal)
        resolve()
      })
    })
    this.send({ type: 'start', setup })
  }

  /** Has begun to work and is neither stopped nor dead. */
  get awake(): boolean {
    return this.#ready && this.#pause === null && !this.#asked
  }

  get paused(): boolean {
    return this.#pause !== null
  }

  send(message: ToWorker): void {
    if (this.#child.connected) this.#child.send(message)
  }

  kill(): void {
    this.#asked = true
    if (!this.#child.kill('SIGKILL')) return
    // From here on it does nothing any more.
    this.diedAt = sharedClock()
  }

  /** SIGTERM: it has a moment to give its runs back. */
  terminate(): void {
    this.#asked = true
    this.#child.kill('SIGTERM')
    void this.#endsInTime()
  }

  /** SIGSTOP, and SIGCONT after `ms`, by a process of its own. */
  pause(ms: number): void {
    const sleeper = spawn('sh', ['-c', 'kill -STOP "$0"; sleep "$1"; kill -CONT "$0"', `${this.#child.pid}`, `${ms / 1000}`], {
      stdio: 'ignore',
    })
    this.#pause = once(sleeper, 'exit').then(() => {
      this.#pause = null
    })
  }

  /** Resolves when it works and has handled every earlier message. */
  async flushed(): Promise<void> {
    await this.#pause
    if (this.#asked) return this.ended
    const answered = this.#answer('flushed')
    this.send({ type: 'flush' })
    await Promise.race([answered, this.ended])
  }

  /** Lets its runs end. */
  async stop(): Promise<void> {
    await this.#pause
    this.#asked = true
    this.send({ type: 'stop' })
    await this.#endsInTime()
  }

  async #endsInTime(): Promise<void> {
    const late = setTimeout(() => {
      this.wouldNotStop = true
      this.kill()
    }, STOP_MS_MAX)
    await this.ended
    clearTimeout(late)
  }

  #answer(type: FromWorker['type']): Promise<void> {
    return new Promise((resolve) => {
      const listen = (message: FromWorker) => {
        if (message.type !== type) return
        this.#child.off('message', listen)
        resolve()
      }
      this.#child.on('message', listen)
    })
  }

  #end(code: number | null, signal: string | null): void {
    this.diedAt ??= sharedClock()
    if (!this.#asked) this.endedByItself = `ended by itself with ${signal ?? `code ${code}`}: ${this.#stderr.trim()}`
    this.#ready = false
  }
}
