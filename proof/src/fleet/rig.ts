// The fleet: one Postgres, API processes behind a proxy, worker processes; and the judge's reads, which go straight to the database.
import { setTimeout as sleep } from 'node:timers/promises'
import { createDurably, type Durably } from '@coji/durably'
import { type DurablyClient, httpClient } from '@coji/durably/client'
import { postgres } from '@coji/durably/postgres'
import pg from 'pg'
import { startPostgres } from '../../dist/postgres/server.js'
import { CALLS_TABLE, type FleetJobs } from './jobs.ts'
import { FleetProcess, type Role } from './process.ts'
import { RoundRobinProxy } from './proxy.ts'

export const LEASE_MS = 3000
const PATIENCE_MS = 60_000

export class Rig implements AsyncDisposable {
  readonly database: pg.Pool
  readonly judge: Durably
  readonly proxy: RoundRobinProxy
  readonly #databaseUrl: string
  readonly #stopServer: () => Promise<void>
  readonly apis: FleetProcess[] = []
  readonly workers: FleetProcess[] = []
  #born = 0

  private constructor(databaseUrl: string, stopServer: () => Promise<void>, proxy: RoundRobinProxy) {
    this.#databaseUrl = databaseUrl
    this.#stopServer = stopServer
    this.proxy = proxy
    this.database = new pg.Pool({ connectionString: databaseUrl, max: 4 })
    // The server stops before the connections of the pool are closed.
    this.database.on('error', () => {})
    this.judge = createDurably({ dialect: postgres(databaseUrl), pollingInterval: 250 })
  }

  static async open(page: ReadonlyMap<string, { type: string; body: string }>): Promise<Rig> {
    const server = await startPostgres({ own: true })
    const rig = new Rig(server.url, () => server.stop(), await RoundRobinProxy.open(page))
    await rig.judge.migrate()
    await rig.database.query(CALLS_TABLE)
    await Promise.all([rig.startApi(), rig.startApi(), rig.startWorker(), rig.startWorker()])
    return rig
  }

  /** Through the proxy, as a user. */
  client(): DurablyClient<FleetJobs> {
    return httpClient<FleetJobs>({ url: `${this.proxy.url}/api` })
  }

  /** Straight to one API process. */
  clientOf(api: FleetProcess): DurablyClient<FleetJobs> {
    return httpClient<FleetJobs>({ url: `http://127.0.0.1:${api.port}/api` })
  }

  async startApi(): Promise<void> {
    this.apis.push(await this.#start('api'))
    this.proxy.serve(this.apis.map(({ port }) => port))
  }

  async startWorker(): Promise<void> {
    this.workers.push(await this.#start('worker'))
  }

  async killApis(): Promise<void> {
    const dying = this.apis.splice(0)
    this.proxy.serve([])
    await Promise.all(dying.map((api) => api.kill()))
  }

  async killWorker(worker: FleetProcess): Promise<void> {
    this.workers.splice(this.workers.indexOf(worker), 1)
    await worker.kill()
  }

  /** The process that called a step's function last. */
  async ownerOf(runId: string): Promise<FleetProcess> {
    return until(async () => {
      const { rows } = await this.database.query('SELECT worker FROM fleet_calls WHERE run_id = $1 ORDER BY ctid DESC LIMIT 1', [runId])
      return this.workers.find(({ name }) => name === rows[0]?.worker)
    })
  }

  /** How often each step's function was called. */
  async callsOf(runId: string): Promise<Record<string, number>> {
    const { rows } = await this.database.query('SELECT step, count(*)::int AS calls FROM fleet_calls WHERE run_id = $1 GROUP BY step', [
      runId,
    ])
    return Object.fromEntries(rows.map(({ step, calls }) => [step, calls]))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.apis, ...this.workers].map((member) => member.kill()))
    await this.judge[Symbol.asyncDispose]()
    await this.database.end()
    await this.proxy.close()
    await this.#stopServer()
  }

  #start(role: Role): Promise<FleetProcess> {
    return FleetProcess.start(role, { name: `${role}-${this.#born++}`, databaseUrl: this.#databaseUrl, leaseMs: LEASE_MS })
  }
}

/** Reads again until there is something; if there never is, the scenario fails. */
export async function until<T>(look: () => Promise<T | undefined | null | false>): Promise<T> {
  const end = performance.now() + PATIENCE_MS
  for (;;) {
    const seen = await look()
    if (seen) return seen
    if (performance.now() > end) throw new Error(`not seen within ${PATIENCE_MS / 1000} s`)
    await sleep(10)
  }
}
