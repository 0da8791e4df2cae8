// Progress: a run reports how far it is. The progress is stored with the run, so any process can show it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDurably } from '@coji/durably'
import { sqlite } from '@coji/durably/sqlite'
import { z } from 'zod'

const folder = mkdtempSync(join(tmpdir(), 'durably-'))
process.on('exit', () => rmSync(folder, { recursive: true }))

const durably = createDurably({ dialect: sqlite(join(folder, 'app.db')) })
const bar = (done: number, total: number) => '#'.repeat((done / total) * 20).padEnd(20, '.')
durably.on('run:progress', ({ progress: { current, total = 100, message } }) => console.log(`${bar(current, total)} ${message}`))

const resizeImages = durably.defineJob(
  { name: 'resize-images', input: z.object({ images: z.array(z.string()) }) },
  async (ctx, { images }) => {
    for (const [i, image] of images.entries()) {
      await ctx.run(`resize-${image}`, () => image.length)
      ctx.progress(i + 1, images.length, image)
    }
  },
)

await durably.migrate()
const run = await resizeImages.trigger({ images: ['a.png', 'b.png', 'c.png', 'd.png'] })
await durably.processUntilIdle()

const ended = await durably.getRun(run.id)
console.log(`${ended?.status}, ${ended?.progress?.current} of ${ended?.progress?.total}`)
await durably[Symbol.asyncDispose]()
