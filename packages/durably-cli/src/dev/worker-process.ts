// WorkerProcess — keeps one worker process alive: it can be killed, stopped and replaced, and another one always follows.
import { type ChildProcess, fork } from 'node:child_process'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { DevJob, FileFailure, FromWorker, ToWorker } from './messages.ts'

const MAIN = new URL('./worker-main.js', import.meta.url)
/** A process that ends by itself is replaced after this time. */
const RESTART_MS = 500
/** A process that has not loaded the job files by then is replaced: one of them may wait for something that never comes. */
const READY_MS_MAX = 15_000
/** How long a question waits for a process that can answer it. */
const ANSWER_MS_MAX = 10_000
/** How long a process may take to give its runs back. */
const STOP_MS_MAX = 3000

export interface WorkerState {
  /** Null between two processes. */
  pid: number | null
  isPaused: boolean
  isSlow: boolean
  jobs: DevJob[]
  failures: FileFailure[]
}

export interface WorkerProcessOptions {
  database: string
  files: () => readonly string[]
  /** They were found, not named: some may be no job files. */
  areFound: boolean
  /** A process is ready; its jobs and failures are in the state. */
  onReady: (state: WorkerState) => void
  /** A process was killed because it did not get ready. */
  onHung: (pid: number) => void
  onExit: (how: { pid: number; signal: NodeJS.Signals | null; code: number | null; wasAsked: boolean }) => void
}

export class WorkerProcess {
  readonly #options: WorkerProcessOptions
  readonly #asked = new Map<number, (result: StandardSchemaV1.Result<unknown>) => void>()
  readonly #waiting = new Set<() => void>()
  #child: ChildProcess | null = null
  #isReady = false
  #isOver = false
  #questions = 0
  #watchdog: NodeJS.Timeout | undefined
  #state: Omit<WorkerState, 'pid'> = { isPaused: false, isSlow: false, jobs: [], failures: [] }

  constructor(options: WorkerProcessOptions) {
    this.#options = options
  }

  get state(): WorkerState {
    return { pid: this.#child?.pid ?? null, ...this.#state }
  }

  start(): void {
    if (this.#isOver || this.#child) return
    const { database, files, areFound } = this.#options
    const child = fork(MAIN, [database, areFound ? 'found' : 'named', ...files()], {
      execArgv: ['--no-warnings'],
      serialization: 'advanced',
    })
    this.#child = child
    this.#watchdog = setTimeout(() => this.#hung(child), READY_MS_MAX)
    // A message to a process that ends cannot be sent; that it has ended is heard anyway.
    child.on('error', () => {})
    child.on('message', (message: FromWorker) => this.#hear(message))
    child.once('exit', (code, signal) => this.#gone(child, code, signal))
  }

  /** A real SIGKILL: the process can do nothing about it. Another one follows. */
  kill(): number | null {
    const pid = this.#child?.pid ?? null
    this.#child?.kill('SIGKILL')
    return pid
  }

  /** Lets the process give its runs back; the next one has the job files as they are now. */
  async replace(): Promise<void> {
    const child = this.#child
    if (!child) return this.start()
    await stopped(child)
  }

  async end(): Promise<void> {
    this.#isOver = true
    if (this.#child) await stopped(this.#child)
  }

  pause(isPaused: boolean): void {
    this.#state.isPaused = isPaused
    this.#tell({ type: 'pause', isPaused })
  }

  slow(isSlow: boolean): void {
    this.#state.isSlow = isSlow
    this.#tell({ type: 'slow', isSlow })
  }

  /** Has the schema of a job check a value, in the process that has it. */
  async validate(jobName: string, value: unknown): Promise<StandardSchemaV1.Result<unknown>> {
    const late = AbortSignal.timeout(ANSWER_MS_MAX)
    while (!this.#isReady) {
      if (late.aborted || this.#isOver)
        return { issues: [{ message: 'no worker process is there to check the input; see the terminal of durably dev' }] }
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve)
        late.addEventListener('abort', () => resolve())
      })
    }
    const id = ++this.#questions
    return new Promise((resolve) => {
      this.#asked.set(id, resolve)
      this.#tell({ type: 'validate', id, jobName, value })
    })
  }

  #hear(message: FromWorker): void {
    if (message.type === 'validated') {
      this.#asked.get(message.id)?.(message.result)
      this.#asked.delete(message.id)
      return
    }
    this.#state.jobs = message.jobs
    this.#state.failures = message.failures
    this.#isReady = true
    clearTimeout(this.#watchdog)
    if (this.#state.isPaused) this.pause(true)
    if (this.#state.isSlow) this.slow(true)
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
    this.#options.onReady(this.state)
  }

  #hung(child: ChildProcess): void {
    this.#options.onHung(child.pid ?? 0)
    child.kill('SIGKILL')
  }

  #gone(child: ChildProcess, code: number | null, signal: NodeJS.Signals | null): void {
    this.#child = null
    this.#isReady = false
    clearTimeout(this.#watchdog)
    for (const resolve of this.#asked.values())
      resolve({ issues: [{ message: 'the worker process ended while it checked the input; try again' }] })
    this.#asked.clear()
    const wasAsked = asked.has(child)
    this.#options.onExit({ pid: child.pid ?? 0, signal, code, wasAsked })
    if (wasAsked || signal === 'SIGKILL') this.start()
    else setTimeout(() => this.start(), RESTART_MS)
  }

  #tell(message: ToWorker): void {
    if (this.#child?.connected) this.#child.send(message)
  }
}

/** Processes that were asked to end. */
const asked = new WeakSet<ChildProcess>()

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  asked.add(child)
  if (child.connected) child.send({ type: 'stop' } satisfies ToWorker)
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX)
  await exited
  clearTimeout(force)
}
