// The program. Its first argument is its role:
//   start       everything, for one's own machine (`npm run agentic`); with --multi two APIs, two workers and a proxy
//   api         the API and the page
//   worker      executes runs
//   demo-model  the scripted model
//   migrate     creates or updates the tables, and ends
import { createServer } from 'node:http'
import { openApp } from '../app.ts'
import { CannotStart } from '../cannot-start.ts'
import { readConfig } from '../config.ts'
import { migrate } from '../db/migrate.ts'
import { demoModelServer } from '../demo-model/server.ts'
import { listen } from './listen.ts'
import { serveApi } from './serve-api.ts'
import { startEverything } from './start.ts'
import { startWorker } from './start-worker.ts'

const ROLES: Readonly<Record<string, () => Promise<void>>> = {
  start: () => startEverything({ isMulti: process.argv.includes('--multi') }),
  api: runApi,
  worker: runWorker,
  'demo-model': runDemoModel,
  migrate: runMigrate,
}

const [, , name = 'start'] = process.argv
const role = ROLES[name]
if (role) await role().catch(refuse)
else {
  console.error(`There is no role ${JSON.stringify(name)}. There are: ${Object.keys(ROLES).join(', ')}.`)
  process.exitCode = 1
}

/** One line for whoever starts it; anything else is an error of the program. */
function refuse(error: unknown): void {
  if (!(error instanceof CannotStart)) throw error
  console.error(`agentic-web: ${error.message}`)
  process.exit(1)
}

async function runApi(): Promise<void> {
  const app = openApp(readConfig(process.env))
  const server = await serveApi(app, { role: 'api', port: Number(process.env.PORT ?? 3000) })
  ready(server.port, 'api')
  onSignal(async () => {
    await server.close()
    await app.durably[Symbol.asyncDispose]()
  })
}

async function runWorker(): Promise<void> {
  const app = openApp(readConfig(process.env))
  const stop = await startWorker(app)
  // Platforms that expect every service to answer on a port ask this one.
  const health = process.env.PORT ? createServer((_, res) => res.end('ok')) : undefined
  const server = health && (await listen(health, { port: Number(process.env.PORT), host: process.env.HOST ?? '127.0.0.1' }))
  ready(server?.port ?? 0, 'worker')
  onSignal(async () => {
    await stop()
    await app.durably[Symbol.asyncDispose]()
  })
}

async function runDemoModel(): Promise<void> {
  const host = process.env.HOST ?? '127.0.0.1'
  const server = await listen(demoModelServer(), { port: Number(process.env.PORT ?? 4110), host })
  ready(server.port, 'demo model (scripted, not an AI)')
  onSignal(() => server.close())
}

async function runMigrate(): Promise<void> {
  const app = openApp(readConfig(process.env))
  await migrate(app.durably)
  await app.durably[Symbol.asyncDispose]()
}

/** Tells the process that started this one, or whoever reads the log. */
function ready(port: number, what: string): void {
  if (process.send) {
    // Whoever started this process is gone, however it ended.
    process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
    process.send({ port })
  } else console.log(`agentic-web: ${what} is ready${port ? ` on port ${port}` : ''}`)
}

/** A platform that stops a process kills it after ten seconds or more; what has not ended by then is taken over by its lease. */
const END_MS = 8000

/** A second signal ends the process at once. */
function onSignal(end: () => Promise<void>): void {
  const onFirst = () => {
    setTimeout(() => process.exit(1), END_MS).unref()
    end().then(
      () => process.exit(0),
      (error) => {
        console.error('agentic-web:', error)
        process.exit(1)
      },
    )
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, onFirst)
}
