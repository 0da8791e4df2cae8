// Events: listeners are called at once, in this process. A listener that throws does not affect the run.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDurably } from '@coji/durably'
import { sqlite } from '@coji/durably/sqlite'
import { z } from 'zod'

const folder = mkdtempSync(join(tmpdir(), 'durably-'))
process.on('exit', () => rmSync(folder, { recursive: true }))

const durably = createDurably({ dialect: sqlite(join(folder, 'app.db')) })

durably.on('run:start', (event) => console.log(`${event.jobName} started`))
durably.on('step:complete', (event) => console.log(`  ${event.stepName} returned`, event.output))
durably.on('step:fail', (event) => console.log(`  ${event.stepName} failed: ${event.error}`))
durably.on('run:complete', (event) => console.log(`${event.jobName} completed`, event.output))
durably.on('run:fail', (event) => console.log(`${event.jobName} failed in ${event.failedStepName}: ${event.error}`))

const stopListening = durably.on('run:trigger', () => {
  throw new Error('a bug in a listener')
})
durably.onError((error, event) => console.log(`a listener of ${event.type} threw: ${(error as Error).message}`))

const convert = durably.defineJob({ name: 'convert', input: z.object({ text: z.string() }) }, async (ctx, { text }) => {
  await ctx.run('read', () => text.length)
  return ctx.run('parse', () => JSON.parse(text) as unknown)
})

await durably.migrate()
await convert.trigger({ text: '[1, 2, 3]' })
stopListening()
await convert.trigger({ text: 'three' })
await durably.processUntilIdle()
await durably[Symbol.asyncDispose]()
