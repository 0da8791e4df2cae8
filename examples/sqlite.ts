// The shortest program: one file, no server, no configuration.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDurably } from '@coji/durably'
import { sqlite } from '@coji/durably/sqlite'
import { z } from 'zod'

const folder = mkdtempSync(join(tmpdir(), 'durably-'))
process.on('exit', () => rmSync(folder, { recursive: true }))

const durably = createDurably({ dialect: sqlite(join(folder, 'app.db')) })

const greet = durably.defineJob({ name: 'greet', input: z.object({ name: z.string() }) }, (ctx, { name }) =>
  ctx.run('say-hello', () => `Hello, ${name}!`),
)

await durably.migrate()
durably.start({ handleSignals: true })
const { output } = await greet.triggerAndWait({ name: 'Ada' })
console.log(output)
await durably[Symbol.asyncDispose]()
