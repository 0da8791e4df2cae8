// DevSession — everything that `durably dev` holds: the database, the worker process and the instance that answers requests. What keys and
// buttons do is done here.
import type { Durably } from '@coji/durably'
import { DevClock } from './clock.ts'
import { jump, prepareJumps } from './clock-jump.ts'
import { devInstance } from './dev-instance.ts'
import { defineRemoteJobs } from './remote-jobs.ts'
import { ServedInstance } from './served-instance.ts'
import { watchFiles } from './watch-files.ts'
import { WorkerProcess, type WorkerProcessOptions, type WorkerState } from './worker-process.ts'

export interface DevSessionOptions extends Pick<WorkerProcessOptions, 'areFound' | 'onReady' | 'onHung' | 'onExit'> {
  database: string
  /** Read again at each change, because files come and go. */
  files: () => readonly string[]
  onChange: () => void
  /** Something failed that nobody waits for. */
  onTrouble: (error: unknown) => void
}

export interface DevState extends WorkerState {
  database: string
  offsetMs: number
  now: string
}

export class DevSession {
  readonly #options: DevSessionOptions
  readonly #clock: DevClock
  readonly #slowness = { isSlow: false }
  readonly #worker: WorkerProcess
  #served: ServedInstance
  #jobNames = ''
  #unwatch: () => void = () => {}

  constructor(options: DevSessionOptions) {
    this.#options = options
    this.#clock = new DevClock(options.database)
    const onReady = (state: WorkerState) => {
      this.#serveJobsOf(state)
      options.onReady(state)
    }
    this.#worker = new WorkerProcess({ ...options, onReady })
    this.#served = new ServedInstance(this.#open())
  }

  get durably(): Durably {
    return this.#served.durably
  }

  /** What answers requests now. It changes when job files come and go. */
  readonly handle = (request: Request): Promise<Response> => this.#served.handle(request)

  get state(): DevState {
    const { offsetMs } = this.#clock
    return { database: this.#options.database, offsetMs, now: new Date(Date.now() + offsetMs).toISOString(), ...this.#worker.state }
  }

  async start(): Promise<void> {
    await this.durably.migrate()
    await prepareJumps(this.durably)
    this.#watch()
    this.#worker.start()
  }

  /** Returns the id of the process that was killed; null if there was none. */
  kill(): number | null {
    return this.#worker.kill()
  }

  pause(isPaused: boolean): void {
    this.#worker.pause(isPaused)
  }

  slow(isSlow: boolean): void {
    this.#slowness.isSlow = isSlow
    this.#worker.slow(isSlow)
  }

  advance(byMs: number): Promise<void> {
    return jump(this.durably, this.#clock, byMs)
  }

  async end(): Promise<void> {
    this.#unwatch()
    await this.#worker.end()
    await this.#served.close()
    this.#clock.close()
  }

  #open(): Durably {
    return devInstance({ database: this.#options.database, clock: this.#clock, slowness: this.#slowness })
  }

  #watch(): void {
    this.#unwatch()
    this.#unwatch = watchFiles(this.#options.files(), () => {
      this.#options.onChange()
      this.#watch()
      this.#worker.replace().catch(this.#options.onTrouble)
    })
  }

  /** A job cannot be undefined, so other names need another instance. Open streams end, and clients reconnect. */
  #serveJobsOf({ jobs }: WorkerState): void {
    const names = JSON.stringify(jobs.map(({ name }) => name).sort())
    if (names === this.#jobNames) return
    this.#jobNames = names
    const durably = this.#open()
    defineRemoteJobs(durably, this.#worker, jobs)
    const before = this.#served
    this.#served = new ServedInstance(durably)
    before.close().catch(this.#options.onTrouble)
  }
}
