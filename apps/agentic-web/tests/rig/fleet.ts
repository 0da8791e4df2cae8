// Two APIs and two workers, each a process of its own, on a Postgres of their own.
import { execFile } from 'node:child_process'
import type { Server } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { type App, openApp } from '../../dist/app.js'
import { readConfig } from '../../dist/config.js'
import { migrate } from '../../dist/db/migrate.js'
import { demoModelServer } from '../../dist/demo-model/server.js'
import { type PostgresServer, startPostgres } from '../../dist/postgres/server.js'
import { type Listening, listen } from '../../dist/roles/listen.js'
import { Client } from './client.ts'
import { TEST_KEYS } from './keys.ts'
import { MAIN, RoleProcess } from './role-process.ts'

const LEASE_MS = 3000

export interface SeenRequest {
  asked: string
  calls: number
  aborted: boolean
}

type Variables = Record<string, string>

export class Fleet {
  readonly postgres: PostgresServer
  readonly client: Client
  readonly #demo: Listening
  readonly #env: Record<string, string>
  #apis: RoleProcess[]
  /** Also of processes that are gone. */
  readonly #logs: (() => string)[] = []
  readonly #workers: Map<string, RoleProcess>

  private constructor(
    postgres: PostgresServer,
    demo: Listening,
    env: Record<string, string>,
    apis: RoleProcess[],
    workers: Map<string, RoleProcess>,
  ) {
    this.postgres = postgres
    this.#demo = demo
    this.#env = env
    this.#apis = apis
    this.#workers = workers
    for (const process of [...apis, ...workers.values()]) this.#keepLog(process)
    this.client = new Client(...apis.map(({ url }) => url))
  }

  /** `more`: variables beside those that every fleet has; they may depend on the address of the demo model. */
  static async start(more: Variables | ((demoModelUrl: string) => Variables) = {}): Promise<Fleet> {
    const server: Server = demoModelServer()
    const [postgres, demo] = await Promise.all([startPostgres({ own: true }), listen(server, { port: 0, host: '127.0.0.1' })])
    const env = {
      DATABASE_URL: postgres.url,
      DEMO_MODEL_URL: `${demo.url}/v1`,
      APP_KEYS: TEST_KEYS,
      LEASE_MS: String(LEASE_MS),
      POLL_MS: '250',
      ALLOW_CRASH: '1',
      ...(typeof more === 'function' ? more(`${demo.url}/v1`) : more),
    }
    await createTables(env)
    const apis = Promise.all([1, 2].map(() => RoleProcess.start('api', { ...env, PORT: '0' })))
    const workers = Promise.all(['w1', 'w2'].map((name) => startWorker(name, env)))
    return new Fleet(postgres, demo, env, await apis, new Map(await workers))
  }

  /** Everything that all processes have printed. */
  get log(): string {
    return this.#logs.map((log) => log()).join('')
  }

  #keepLog(process: RoleProcess): void {
    this.#logs.push(() => process.log)
  }

  /** The app on the database of the fleet, in this process; it executes nothing. */
  app(): App {
    return openApp(readConfig(this.#env))
  }

  /** Runs a command of the program, and returns what it prints. */
  async command(...words: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', MAIN, ...words], {
      env: { ...process.env, ...this.#env },
    })
    return stdout
  }

  /** Every process is replaced, one after the other, with other variables. `around` is told which server is away. */
  async rollOut(change: Variables, around: (ports: readonly number[]) => void): Promise<void> {
    Object.assign(this.#env, change)
    for (const [i, api] of this.#apis.entries()) {
      around(this.#apis.filter((other) => other !== api).map(({ port }) => port))
      // A load balancer lets the requests end that it has sent already.
      await pause(500)
      await api.end('SIGTERM')
      this.#apis[i] = await RoleProcess.start('api', { ...this.#env, PORT: String(api.port) })
      this.#keepLog(this.#apis[i])
      around(this.#apis.map(({ port }) => port))
    }
    for (const name of this.workers) {
      await this.endWorker(name, 'SIGTERM')
      await this.startWorker(name)
    }
  }

  get apiUrls(): string[] {
    return this.#apis.map(({ url }) => url)
  }

  get workers(): string[] {
    return [...this.#workers.keys()]
  }

  get apis(): readonly RoleProcess[] {
    return this.#apis
  }

  worker(name: string): RoleProcess {
    const worker = this.#workers.get(name)
    if (!worker) throw new Error(`there is no worker ${name}`)
    return worker
  }

  async killApis(): Promise<void> {
    await Promise.all(this.#apis.map((api) => api.end('SIGKILL')))
  }

  /** Where they were before. */
  async restartApis(): Promise<void> {
    this.#apis = await Promise.all(this.#apis.map(({ port }) => RoleProcess.start('api', { ...this.#env, PORT: String(port) })))
    for (const api of this.#apis) this.#keepLog(api)
  }

  /** Ends all workers, and returns how to start as many again. */
  async withoutWorkers(): Promise<() => Promise<void>> {
    const names = this.workers
    await Promise.all(names.map((name) => this.endWorker(name, 'SIGTERM')))
    return async () => void (await Promise.all(names.map((name) => this.startWorker(name))))
  }

  async startWorker(name: string): Promise<void> {
    const [, worker] = await startWorker(name, this.#env)
    this.#workers.set(name, worker)
    this.#keepLog(worker)
  }

  async endWorker(name: string, signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    const worker = this.worker(name)
    this.#workers.delete(name)
    return worker.end(signal)
  }

  /** The next worker that ends by itself is replaced by another one. */
  async replaceLost(): Promise<void> {
    const lost = await Promise.race([...this.#workers].map(([name, worker]) => worker.ended().then(() => name)))
    this.#workers.delete(lost)
    await this.startWorker(`${lost}'`)
  }

  get demoModelUrl(): string {
    return this.#env.DEMO_MODEL_URL ?? ''
  }

  /** What the demo model was asked. */
  async requests(): Promise<SeenRequest[]> {
    return (await (await fetch(`${this.#demo.url}/__requests`)).json()) as SeenRequest[]
  }

  async query<T extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> {
    const client = await this.connect()
    try {
      return (await client.query<T>(text, values)).rows
    } finally {
      await client.end()
    }
  }

  async connect(): Promise<pg.Client> {
    const client = new pg.Client(this.postgres.url)
    client.on('error', () => {})
    await client.connect()
    return client
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#apis, ...this.#workers.values()].map((process) => process.end('SIGKILL')))
    await Promise.all([this.#demo.close(), this.postgres.stop()])
  }
}

async function createTables(env: Record<string, string>): Promise<void> {
  const { durably } = openApp(readConfig(env))
  await migrate(durably)
  await durably[Symbol.asyncDispose]()
}

async function startWorker(name: string, env: Record<string, string>): Promise<[string, RoleProcess]> {
  return [name, await RoleProcess.start('worker', { ...env, WORKER_ID: name, PORT: '' })]
}
