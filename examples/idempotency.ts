// Idempotency: a webhook that is delivered ten times starts one run, and every delivery gets its id.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDurably } from '@coji/durably'
import { sqlite } from '@coji/durably/sqlite'
import { z } from 'zod'

const folder = mkdtempSync(join(tmpdir(), 'durably-'))
process.on('exit', () => rmSync(folder, { recursive: true }))

const durably = createDurably({ dialect: sqlite(join(folder, 'app.db')) })
// A fake payment service that remembers the keys it has seen.
const charged = new Set<string>()

const bookOrder = durably.defineJob({ name: 'book-order', input: z.object({ order: z.number() }) }, async (ctx, { order }) => {
  // The step may run again after a crash, but `ctx.runId` stays the same, so it is a good key for the payment service.
  await ctx.run('charge-card', () => charged.add(`charge-${ctx.runId}`).size)
  return `order ${order} booked, ${charged.size} charge`
})
await durably.migrate()

const deliveries = Array.from({ length: 10 }, () => bookOrder.trigger({ order: 7 }, { idempotencyKey: 'webhook-event-456' }))
const runs = await Promise.all(deliveries)
console.log(`${runs.length} deliveries, ${new Set(runs.map((run) => run.id)).size} run`)

await durably.processUntilIdle()
// The run has ended, and its key still returns it.
const { id, output } = await bookOrder.triggerAndWait({ order: 7 }, { idempotencyKey: 'webhook-event-456' })
console.log(output)

await durably.deleteRun(id)
const again = await bookOrder.trigger({ order: 7 }, { idempotencyKey: 'webhook-event-456' })
console.log(again.id === id ? 'the same run' : 'a new run, since the old one was deleted')
await durably[Symbol.asyncDispose]()
