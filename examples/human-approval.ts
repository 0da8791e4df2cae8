// Human approval: a run waits for a person, and needs neither a slot nor a process meanwhile. Another instance sends the answer.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDurably } from '@coji/durably'
import { sqlite } from '@coji/durably/sqlite'
import { z } from 'zod'

const folder = mkdtempSync(join(tmpdir(), 'durably-'))
process.on('exit', () => rmSync(folder, { recursive: true }))

const Approval = z.object({ ok: z.boolean(), by: z.string() })

function open() {
  const durably = createDurably({ dialect: sqlite(join(folder, 'app.db')) })
  const refund = durably.defineJob({ name: 'refund', input: z.object({ cents: z.number() }) }, async (ctx, { cents }) => {
    await ctx.run('ask', () => console.log(`may we pay back ${cents} cents?`))
    const { ok, by } = await ctx.waitFor('approval', { schema: Approval, timeout: '7d' })
    return ctx.run('answer', () => `${by} says ${ok ? 'yes' : 'no'}`)
  })
  return { durably, refund }
}

const monday = open()
await monday.durably.migrate()
const { id } = await monday.refund.trigger({ cents: 1200 })
await monday.durably.processUntilIdle()
console.log(`the run is ${(await monday.durably.getRun(id))?.phase}`)
await monday.durably[Symbol.asyncDispose]()

const tuesday = open()
// A webhook may be delivered twice; the key makes that harmless.
for (let i = 0; i < 2; i++) await tuesday.durably.signal(id, 'approval', { ok: true, by: 'grace' }, { idempotencyKey: 'mail-17' })
await tuesday.durably.processUntilIdle()
console.log((await tuesday.refund.getRun(id))?.output)
await tuesday.durably[Symbol.asyncDispose]()
