// A durable sleep: the process may end while a run sleeps; any worker that is running when it is due resumes it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDurably } from '@coji/durably'
import { sqlite } from '@coji/durably/sqlite'
import { z } from 'zod'

const folder = mkdtempSync(join(tmpdir(), 'durably-'))
process.on('exit', () => rmSync(folder, { recursive: true }))

function open() {
  const durably = createDurably({ dialect: sqlite(join(folder, 'app.db')) })
  const onboard = durably.defineJob({ name: 'onboard', input: z.object({ user: z.string() }) }, async (ctx, { user }) => {
    await ctx.run('welcome', () => console.log(`welcome ${user}`))
    await ctx.sleep('a few days', '200ms')
    await ctx.run('tips', () => console.log(`tips for ${user}`))
  })
  return { durably, onboard }
}

const first = open()
await first.durably.migrate()
const { id } = await first.onboard.trigger({ user: 'ada' })
await first.durably.processUntilIdle()
console.log(`${(await first.durably.getRun(id))?.phase}; this process may end now`)
await first.durably[Symbol.asyncDispose]()

const second = open()
const ended = new Promise((resolve) => second.durably.on('run:complete', resolve))
second.durably.start({ handleSignals: true })
await ended
console.log((await second.durably.getRun(id))?.status)
await second.durably[Symbol.asyncDispose]()
