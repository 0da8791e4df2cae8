// Storing logs: with `withLogPersistence()` every log line and every event is stored in the `logs` table.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDurably } from '@coji/durably'
import { withLogPersistence } from '@coji/durably/plugins'
import { sqlite } from '@coji/durably/sqlite'
import { z } from 'zod'

const folder = mkdtempSync(join(tmpdir(), 'durably-'))
process.on('exit', () => rmSync(folder, { recursive: true }))

const durably = createDurably({ dialect: sqlite(join(folder, 'app.db')) })
durably.use(withLogPersistence())

const importCsv = durably.defineJob({ name: 'import-csv', input: z.object({ lines: z.array(z.string()) }) }, async (ctx, { lines }) => {
  ctx.log.info('import starts', { lines: lines.length })
  await ctx.run('check', () => {
    for (const line of lines) if (!line.includes(',')) ctx.log.warn('no comma', { line })
  })
  // When steps run in parallel, a step's own `log` always has the right step name.
  await Promise.all([ctx.run('store', ({ log }) => log.info('stored')), ctx.run('index', ({ log }) => log.info('indexed'))])
})

await durably.migrate()
const run = await importCsv.trigger({ lines: ['a,1', 'b 2'] })
await durably.processUntilIdle()
await durably.stop()

for (const { level, stepName, message, data } of await durably.getLogs(run.id)) {
  const isEvent = message.includes(':')
  console.log(`${isEvent ? 'event' : 'line '} ${level.padEnd(5)} ${(stepName ?? '-').padEnd(6)} ${message}`, isEvent ? '' : (data ?? ''))
}
await durably[Symbol.asyncDispose]()
