// Batches: an interrupted step runs again as a whole, so a long loop is split into steps. A recorded batch is not repeated.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDurably } from '@coji/durably'
import { sqlite } from '@coji/durably/sqlite'
import { z } from 'zod'

const folder = mkdtempSync(join(tmpdir(), 'durably-'))
process.on('exit', () => rmSync(folder, { recursive: true }))

const durably = createDurably({ dialect: sqlite(join(folder, 'app.db')) })
const timesProcessed = new Map<number, number>()
let networkIsUp = true

async function processItem(item: number): Promise<void> {
  if (item === 350 && !networkIsUp) throw new Error(`no network at item ${item}`)
  timesProcessed.set(item, (timesProcessed.get(item) ?? 0) + 1)
}

const processItems = durably.defineJob({ name: 'process-items', input: z.object({ count: z.number() }) }, async (ctx, { count }) => {
  const items = Array.from({ length: count }, (_, i) => i)
  for (let i = 0; i < items.length; i += 100) {
    await ctx.run(`batch-${i}`, async () => {
      for (const item of items.slice(i, i + 100)) await processItem(item)
    })
  }
})

await durably.migrate()
networkIsUp = false
const run = await processItems.trigger({ count: 1000 })
await durably.processUntilIdle()
console.log((await durably.getRun(run.id))?.error)
console.log(`recorded: ${(await durably.getSteps(run.id)).map(({ name, status }) => `${name} ${status}`).join(', ')}`)

networkIsUp = true
await durably.retry(run.id)
await durably.processUntilIdle()
const twice = [...timesProcessed].filter(([, times]) => times === 2).map(([item]) => item)
console.log(`${timesProcessed.size} items processed, twice only ${twice[0]} to ${twice.at(-1)}`)
await durably[Symbol.asyncDispose]()
