// Retrying failed runs: recorded steps are kept, so a retried run continues where it failed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDurably } from '@coji/durably'
import { sqlite } from '@coji/durably/sqlite'
import { z } from 'zod'

const folder = mkdtempSync(join(tmpdir(), 'durably-'))
process.on('exit', () => rmSync(folder, { recursive: true }))

const durably = createDurably({ dialect: sqlite(join(folder, 'app.db')) })
let mailServerIsUp = false

const sendInvoice = durably.defineJob({ name: 'send-invoice', input: z.object({ order: z.number() }) }, async (ctx, { order }) => {
  const pdf = await ctx.run('render', () => {
    console.log(`rendering invoice ${order}`)
    return `invoice-${order}.pdf`
  })
  await ctx.run('send', () => {
    if (!mailServerIsUp) throw new Error('mail server is down')
    console.log(`sending ${pdf}`)
  })
})

await durably.migrate()
await sendInvoice.batchTrigger([{ payload: { order: 1 } }, { payload: { order: 2 } }])
await durably.processUntilIdle()

const failedRuns = await durably.getRuns({ status: 'failed' })
for (const run of failedRuns) console.log(`${run.jobName} failed: ${run.error}`)

mailServerIsUp = true
for (const run of failedRuns) await durably.retry(run.id)
await durably.processUntilIdle()

const completedRuns = await sendInvoice.getRuns({ status: 'completed' })
console.log(`${completedRuns.length} runs completed`)
// The failed attempt is kept beside the successful one.
for (const step of await durably.getSteps(completedRuns[0]?.id ?? '')) console.log(`  ${step.name}: ${step.status}`)
await durably[Symbol.asyncDispose]()
