// Two worker processes on one file: each run is executed by one of them.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createDurably } from '@coji/durably'
import { sqlite } from '@coji/durably/sqlite'
import { z } from 'zod'

const [folder] = process.argv.slice(2)
if (folder) await work(folder)
else await triggerAndCount(mkdtempSync(join(tmpdir(), 'durably-')))

function open(folder: string) {
  const durably = createDurably({ dialect: sqlite(join(folder, 'app.db')), pollingInterval: 100 })
  const fetchPage = durably.defineJob({ name: 'fetch-page', input: z.object({ page: z.number() }) }, async (ctx, { page }) => {
    await ctx.run('fetch', async () => {
      appendFileSync(join(folder, 'executed.txt'), `${page}\n`)
      await pause(30)
    })
    return process.pid
  })
  return { durably, fetchPage }
}

async function work(folder: string): Promise<void> {
  const { durably } = open(folder)
  await durably.migrate()
  durably.start({ handleSignals: true })
  process.send?.('ready')
  // Stops after the current run has ended.
  process.on('disconnect', () => durably[Symbol.asyncDispose]())
}

async function triggerAndCount(folder: string): Promise<void> {
  const { durably, fetchPage } = open(folder)
  const start = () => fork(fileURLToPath(import.meta.url), [folder], { execArgv: ['--no-warnings'] })
  const workers: ChildProcess[] = [start(), start()]
  await Promise.all(workers.map((worker) => once(worker, 'message')))

  const pages = Array.from({ length: 40 }, (_, page) => page)
  const results = await Promise.all(pages.map((page) => fetchPage.triggerAndWait({ page })))
  const executed = readFileSync(join(folder, 'executed.txt'), 'utf8').trim().split('\n')
  console.log(`${results.length} runs, ${executed.length} executions, ${new Set(executed).size} different pages`)
  console.log(`${new Set(results.map(({ output }) => output)).size} workers took part`)

  const gone = workers.map((worker) => once(worker, 'exit'))
  for (const worker of workers) worker.disconnect()
  await Promise.all(gone)
  await durably[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
}
