// Everything on one machine, with one command: the database, the demo model, the API with the page, and workers.
import { mkdirSync } from 'node:fs'
import { startPostgres } from '../../dist/postgres/server.js'
import { openApp } from '../app.ts'
import { readConfig } from '../config.ts'
import { migrate } from '../db/migrate.ts'
import { demoModelServer } from '../demo-model/server.ts'
import { ChildRole } from './child-role.ts'
import { listen } from './listen.ts'
import { DATA, keepRunning } from './local-data.ts'
import { localKeys } from './local-keys.ts'
import { roundRobinProxy } from './proxy.ts'
import { serveApi } from './serve-api.ts'
import { startWorker } from './start-worker.ts'

const PORT = Number(process.env.PORT ?? 3000)

type End = () => Promise<unknown>

export async function startEverything({ isMulti }: { isMulti: boolean }): Promise<void> {
  mkdirSync(DATA, { recursive: true, mode: 0o700 })
  /** What was started last ends first. */
  const ends: End[] = []
  endOnSignal(ends)
  const isFile = process.env.DATABASE_URL?.startsWith('file:') ?? false
  if (isFile && isMulti)
    throw new Error('--multi needs Postgres: a SQLite file takes one process. Leave DATABASE_URL out, or give a Postgres URL')
  const demo = await listen(demoModelServer(), { port: 0, host: '127.0.0.1' })
  ends.unshift(demo.close)
  const env = {
    DATABASE_URL: process.env.DATABASE_URL ?? (await ownPostgres(ends)),
    DEMO_MODEL_URL: `${demo.url}/v1`,
    APP_KEYS: process.env.APP_KEYS ?? localKeys(DATA),
    PUBLIC_URL: process.env.PUBLIC_URL ?? ownAddress(),
  }
  ends.unshift(keepRunning({ DATABASE_URL: env.DATABASE_URL }))
  const url = isFile ? await inThisProcess(env, ends) : await inProcesses(env, ends, isMulti)
  console.log(
    `\nAgentic web: ${env.PUBLIC_URL || url}\nThe demo model is scripted and not an AI. Add a key or a local model server in the settings.\nCtrl-C ends everything.`,
  )
}

/** Services send users back to one address, so pages must be there and not under another name of this machine. */
function ownAddress(): string {
  const isNeeded = Boolean(process.env.OAUTH_OPENAI_CLIENT_ID || process.env.OAUTH_OIDC_CLIENT_ID)
  return isNeeded ? `http://localhost:${PORT}` : ''
}

async function ownPostgres(ends: End[]): Promise<string> {
  console.log('Postgres starts (set DATABASE_URL to use another one) …')
  const settings = { fsync: 'on', full_page_writes: 'on', autovacuum: 'on', max_connections: '100' }
  const server = await startPostgres({ own: true, settings, folder: DATA })
  ends.unshift(() => server.stop())
  return server.url
}

/** SQLite: the API and the worker share a process. */
async function inThisProcess(env: Record<string, string>, ends: End[]): Promise<string> {
  const app = openApp(readConfig({ ...process.env, ...env }))
  ends.unshift(() => app.durably[Symbol.asyncDispose]())
  await migrate(app.durably)
  ends.unshift(await startWorker(app))
  const server = await serveApi(app, { role: 'all', port: PORT })
  ends.unshift(server.close)
  return server.url
}

async function inProcesses(env: Record<string, string>, ends: End[], isMulti: boolean): Promise<string> {
  const app = openApp(readConfig({ ...process.env, ...env }))
  await migrate(app.durably)
  await app.durably[Symbol.asyncDispose]()
  const start = (name: string, role: string, more: Record<string, string> = {}) => {
    const child = new ChildRole(name, role, { ...env, ...more })
    ends.unshift(() => child.end())
    return child.start()
  }
  const numbers = isMulti ? [1, 2] : [1]
  await Promise.all(numbers.map((n) => start(`worker-${n}`, 'worker', { WORKER_ID: `worker-${n}`, PORT: '' })))
  if (!isMulti) return `http://localhost:${await start('api-1', 'api', { PORT: String(PORT) })}`
  const ports = await Promise.all(numbers.map((n) => start(`api-${n}`, 'api', { PORT: '0' })))
  const proxy = await listen(roundRobinProxy(ports), { port: PORT, host: '127.0.0.1' })
  ends.unshift(proxy.close)
  return `http://localhost:${proxy.port}`
}

function endOnSignal(ends: End[]): void {
  let isEnding = false
  const end = async () => {
    if (isEnding) return process.exit(1)
    isEnding = true
    for (const end of ends) await end().catch((error) => console.error(String(error)))
    process.exit(0)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void end())
}
