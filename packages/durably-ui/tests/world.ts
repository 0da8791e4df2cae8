// A server with the dashboard and its API on one port, over a real engine on a SQLite file, and a Chromium to look at it.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createDurably, type Durably } from '@coji/durably'
import { withLogPersistence } from '@coji/durably/plugins'
import { allowAll, durablyHandler, nodeListener } from '@coji/durably/server'
import { sqlite } from '@coji/durably/sqlite'
import { dashboardPage } from '@coji/durably-ui/page'
import type { Dialect } from 'kysely'
import { onTestFinished } from 'vitest'
import { defineJobs } from './jobs.ts'

export interface World {
  readonly address: string
  readonly durably: Durably
  readonly jobs: ReturnType<typeof defineJobs>
  /** A run that another process has begun and was killed in. It resolves to its id, before anybody takes the run over. */
  loseWorker(job: 'monthlyReport' | 'pay'): Promise<string>
  stopServing(): Promise<void>
  /** On the same port. */
  serveAgain(): Promise<void>
}

/** Closed with the test. Its worker, `worker-b`, is not started. */
export async function openWorld(dialectOf: (file: string) => Dialect = sqlite): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'durably-ui-'))
  const file = join(folder, 'app.db')
  const durably = createDurably({
    dialect: dialectOf(file),
    staleThreshold: 900,
    pollingInterval: 100,
    concurrency: 4,
    workerId: 'worker-b',
    logger: false,
  })
  durably.use(withLogPersistence())
  const jobs = defineJobs(durably)
  await durably.migrate()
  let site = await serve(durably, 0)
  const { port } = site
  onTestFinished(async () => {
    await site.close()
    await durably[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    address: `http://127.0.0.1:${port}/`,
    durably,
    jobs,
    async loseWorker(job) {
      const { id } = await (job === 'pay'
        ? jobs.pay.trigger({})
        : jobs.monthlyReport.trigger({ month: '2026-10' }, { labels: { tenant: 'acme' } }))
      const doomed = fork(fileURLToPath(new URL('./fixtures/doomed-worker.mjs', import.meta.url)), [file], { execArgv: ['--no-warnings'] })
      await once(doomed, 'message')
      await killed(doomed)
      return id
    },
    stopServing: () => site.close(),
    async serveAgain() {
      site = await serve(durably, port)
    },
  }
}

async function killed(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

async function serve(durably: Durably, port: number): Promise<{ port: number; close(): Promise<void> }> {
  const handler = durablyHandler(durably, { basePath: '/api', authorize: allowAll(), exposeFailures: true, executes: false })
  const api = nodeListener(handler)
  const files = new Map(dashboardPage({ api: '/api' }).map((page) => [`/${page.path}`, page]))
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0] ?? '/'
    if (path.startsWith('/api/')) return void api(request, response)
    const found = files.get(path === '/' ? '/index.html' : path)
    if (found) response.writeHead(200, { 'content-type': found.contentType }).end(found.body)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      handler.close()
      server.closeAllConnections()
      if (server.listening) await new Promise((resolve) => server.close(resolve))
    },
  }
}
