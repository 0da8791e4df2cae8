// LazyWorker — the worker of an instance, whose code is loaded when it first has to work: a page that only triggers and shows runs
// does without it. While the code cannot be loaded, a started worker reports that and tries again, as it does without a database (K2).
import { backoffMs } from '../../model/backoff.ts'
import type { TimerHandle } from '../../model/env.ts'
import { lazyCode } from '../../model/lazy.ts'
import type { Execution } from '../execution.ts'
import type { WorkerDeps } from '../worker-deps.ts'
import type { Worker, WorkerVitals } from './worker.ts'

export const workerClass = lazyCode(async () => (await import('./worker.ts')).Worker)

export class LazyWorker {
  readonly #deps: WorkerDeps
  readonly #load: typeof workerClass
  #worker: Worker | null = null
  /** A start that waits for the code. */
  #starting: { timer: TimerHandle } | null = null

  constructor(deps: WorkerDeps, load = workerClass) {
    this.#deps = deps
    this.#load = load
  }

  start(): void {
    if (!this.#starting) this.#start({ timer: null }, 1)
  }

  #start(starting: { timer: TimerHandle }, attempt: number): void {
    const { env, report } = this.#deps
    const there = this.loaded()
    if (!(there instanceof Promise)) return there.start()
    this.#starting = starting
    const isWanted = () => this.#starting === starting
    there.then(
      (worker) => {
        if (!isWanted()) return
        this.#starting = null
        worker.start()
      },
      (error: unknown) => {
        if (!isWanted()) return
        report(error)
        starting.timer = env.timer(backoffMs(env, attempt), () => this.#start(starting, attempt + 1))
      },
    )
  }

  async stop(options?: { timeout?: number }): Promise<void> {
    this.#deps.env.clear(this.#starting?.timer)
    this.#starting = null
    await this.#worker?.stop(options)
  }

  /** It was started and waits for its code. */
  get isStarting(): boolean {
    return this.#starting !== null
  }

  /** At once, if the code is there already. */
  loaded(): Worker | Promise<Worker> {
    if (this.#worker) return this.#worker
    const there = this.#load(this.#deps.env)
    return there instanceof Promise ? there.then((Loaded) => this.#made(Loaded)) : this.#made(there)
  }

  #made(Loaded: typeof Worker): Worker {
    this.#worker ??= new Loaded(this.#deps)
    return this.#worker
  }

  get isWorking(): boolean {
    return this.#worker?.isWorking ?? false
  }

  /** Null while its code was not needed, or is not there yet. */
  get vitals(): WorkerVitals | null {
    return this.#worker?.vitals ?? null
  }

  get isInsideRun(): boolean {
    return this.#worker?.isInsideRun ?? false
  }

  wake(): void {
    this.#worker?.wake()
  }

  execution(runId: string): Execution | undefined {
    return this.#worker?.execution(runId)
  }

  cancelHere(runId: string): void {
    this.#worker?.cancelHere(runId)
  }

  lookForCancel(runId?: string): void {
    this.#worker?.lookForCancel(runId)
  }
}
