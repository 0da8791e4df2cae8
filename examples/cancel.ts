// Cancelling: a pending run will not start, a running one is asked to stop, an ended one stays as it is.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createDurably } from '@coji/durably'
import { sqlite } from '@coji/durably/sqlite'
import { z } from 'zod'

const folder = mkdtempSync(join(tmpdir(), 'durably-'))
process.on('exit', () => rmSync(folder, { recursive: true }))

const durably = createDurably({ dialect: sqlite(join(folder, 'app.db')) })
const crawl = durably.defineJob({ name: 'crawl', input: z.object({ site: z.string() }) }, async (ctx) => {
  await ctx.run('list-pages', () => ['/', '/about'])
  // `signal` aborts when the run is cancelled; pass it to fetch() and the like.
  await ctx.run('download', ({ signal }) => pause(60_000, undefined, { signal }))
})
await durably.migrate()

const waiting = await crawl.trigger({ site: 'a.example' })
console.log(`pending run: ${await durably.cancel(waiting.id)}`)

durably.on('step:start', async ({ runId, stepName }) => {
  if (stepName === 'download') console.log(`running run: ${await durably.cancel(runId)}`)
})
durably.start({ handleSignals: true })
const error = await crawl.triggerAndWait({ site: 'b.example' }).catch((error) => error)
console.log(`triggerAndWait rejected: ${error.code}`)
console.log(`steps kept: ${(await durably.getSteps(error.runId)).map((step) => step.name).join(', ')}`)
console.log(`ended run: ${await durably.cancel(error.runId)}`)
await durably[Symbol.asyncDispose]()
