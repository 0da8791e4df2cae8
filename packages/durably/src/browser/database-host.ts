// DatabaseHost — queues for the lock of the host. The instance that gets it opens the database, in a worker of its own.
//   - The lock is held as long as the worker has the files open. It goes to the next instance when this one leaves or its tab dies.
//   - If the database cannot be opened, the lock is released, and this instance queues again after a pause.
import { backoffMs } from '../model/backoff.ts'
import { type Env, sleep } from '../model/env.ts'
import { DurablyError } from '../model/errors.ts'
import { placeNames, type WorkerOrder, type WorkerReport } from './protocol.ts'

interface DatabaseHostDeps {
  name: string
  host: string
  synchronous: 'FULL' | 'NORMAL'
  env: Env
  onOpen(port: MessagePort): void
  onFail(error: DurablyError): void
}

export class DatabaseHost {
  readonly #deps: DatabaseHostDeps
  readonly #leaving = new AbortController()
  readonly #left: Promise<void>
  isHosting = false

  constructor(deps: DatabaseHostDeps) {
    this.#deps = deps
    this.#left = this.#queue()
  }

  async leave(): Promise<void> {
    this.#leaving.abort()
    await this.#left
  }

  async #queue(): Promise<void> {
    const { signal } = this.#leaving
    const { hostLock } = placeNames(this.#deps.name)
    for (let failures = 0; !signal.aborted; ) {
      // The request rejects when this instance leaves while it waits for the lock.
      await navigator.locks.request(hostLock, { signal }, () => this.#host()).catch(() => {})
      if (!signal.aborted) await sleep(this.#deps.env, backoffMs(this.#deps.env, ++failures))
    }
  }

  async #host(): Promise<void> {
    let worker: Worker | undefined
    this.isHosting = true
    try {
      worker = new Worker(new URL('./database-worker.js', import.meta.url), { type: 'module', name: `durably ${this.#deps.name}` })
      await this.#open(worker)
      await this.#untilLeft(worker)
      await ask(worker, { type: 'close' })
    } catch (error) {
      this.#deps.onFail(error instanceof DurablyError ? error : notLoaded(String(error)))
    } finally {
      worker?.terminate()
      this.isHosting = false
    }
  }

  #untilLeft(worker: Worker): Promise<void> {
    const { signal } = this.#leaving
    return new Promise((resolve, reject) => {
      worker.onerror = (event) =>
        reject(new DurablyError('store_unavailable', `the worker that has the database open failed: ${event.message}`))
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve())
    })
  }

  async #open(worker: Worker): Promise<void> {
    const { name, host, synchronous, onOpen } = this.#deps
    await ask(worker, { type: 'open', name, host, synchronous })
    const { port1, port2 } = new MessageChannel()
    worker.postMessage({ type: 'serve', port: port2 } satisfies WorkerOrder, [port2])
    onOpen(port1)
  }
}

function ask(worker: Worker, order: WorkerOrder): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<WorkerReport>) => {
      if (data.type === 'failed') reject(new DurablyError(data.code, `cannot open the database: ${data.error}`))
      else resolve()
    }
    worker.onerror = (event) => reject(notLoaded(event.message))
    worker.postMessage(order)
  })
}

function notLoaded(why: string | undefined): DurablyError {
  return new DurablyError(
    'store_unavailable',
    `the worker that opens the database could not be loaded (${why || 'no reason given'}); with Vite, exclude @coji/durably and @sqlite.org/sqlite-wasm from optimizeDeps`,
  )
}
