// Two APIs and two workers, each a process of its own, on a Postgres of their own.
import type { Server } from 'node:http'
import pg from 'pg'
import { openApp } from '../../dist/app.js'
import { readConfig } from '../../dist/config.js'
import { migrate } from '../../dist/db/migrate.js'
import { demoModelServer } from '../../dist/demo-model/server.js'
import { type PostgresServer, startPostgres } from '../../dist/postgres/server.js'
import { type Listening, listen } from '../../dist/roles/listen.js'
import { Client } from './client.ts'
import { TEST_KEYS } from './keys.ts'
import { RoleProcess } from './role-process.ts'

const LEASE_MS = 3000

export interface SeenRequest {
  asked: string
  calls: number
  aborted: boolean
}

export class Fleet {
  readonly postgres: PostgresServer
  readonly client: Client
  readonly #demo: Listening
  readonly #env: Record<string, string>
  #apis: RoleProcess[]
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
    this.client = new Client(...apis.map(({ url }) => url))
  }

  /** `more`: variables beside those that every fleet has. */
  static async start(more: Record<string, string> = {}): Promise<Fleet> {
    const server: Server = demoModelServer()
    const [postgres, demo] = await Promise.all([startPostgres({ own: true }), listen(server, { port: 0, host: '127.0.0.1' })])
    const env = {
      DATABASE_URL: postgres.url,
      DEMO_MODEL_URL: `${demo.url}/v1`,
      APP_KEYS: TEST_KEYS,
      LEASE_MS: String(LEASE_MS),
      POLL_MS: '250',
      ALLOW_CRASH: '1',
      ...more,
    }
    await createTables(env)
    const apis = Promise.all([1, 2].map(() => RoleProcess.start('api', { ...env, PORT: '0' })))
    const workers = Promise.all(['w1', 'w2'].map((name) => startWorker(name, env)))
    return new Fleet(postgres, demo, env, await apis, new Map(await workers))
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
  }

  /** Ends all workers, and returns how to start as many again. */
  async withoutWorkers(): Promise<() => Promise<void>> {
    const names = this.workers
    await Promise.all(names.map((name) => this.endWorker(name, 'SIGTERM')))
    return async () => void (await Promise.all(names.map((name) => this.startWorker(name))))
  }

  async startWorker(name: string): Promise<void> {
    this.#workers.set(...(await startWorker(name, this.#env)))
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
