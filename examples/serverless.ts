// Without a long-lived worker: each invocation executes due runs and ends in time. Later invocations execute the rest.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDurably } from '@coji/durably'
import { sqlite } from '@coji/durably/sqlite'
import { z } from 'zod'

const folder = mkdtempSync(join(tmpdir(), 'durably-'))
process.on('exit', () => rmSync(folder, { recursive: true }))

/** What a cron trigger or a queue would call. */
async function handler(): Promise<string> {
  const durably = createDurably({ dialect: sqlite(join(folder, 'app.db')) })
  const sendMail = durably.defineJob({ name: 'send-mail', input: z.object({ to: z.string() }) }, async (ctx, { to }) => {
    await ctx.run('send', () => `mail to ${to}`)
  })
  await durably.migrate()
  const readers = ['ada', 'grace', 'edsger', 'barbara', 'donald']
  // The keys make sure that a second invocation does not send it again.
  await sendMail.batchTrigger(readers.map((to) => ({ payload: { to }, options: { idempotencyKey: `monday-${to}` } })))

  const executed = await durably.processUntilIdle({ maxRuns: 3, deadline: Date.now() + 10_000 })
  const left = (await sendMail.getRuns({ status: 'pending' })).length
  await durably[Symbol.asyncDispose]()
  return `executed ${executed}, left ${left}`
}

console.log(await handler())
console.log(await handler())
console.log(await handler())
