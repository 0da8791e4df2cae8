// In memory: the same jobs without a database, for tests and for work that may be lost with its process.
import { setTimeout as pause } from 'node:timers/promises'
import { createDurably } from '@coji/durably'
import { memoryStore } from '@coji/durably/memory'
import { z } from 'zod'

const durably = createDurably({ store: memoryStore(), concurrency: 3 })

const thumbnail = durably.defineJob(
  { name: 'thumbnail', input: z.object({ image: z.string() }), output: z.object({ file: z.string() }) },
  async (ctx, { image }) => {
    const size = await ctx.run('measure', () => image.length)
    return ctx.run('shrink', async () => {
      await pause(10)
      return { file: `${image}.${size}px.webp` }
    })
  },
)

durably.start({ handleSignals: true })
const results = await Promise.all(['cat.png', 'bird.png', 'horse.png'].map((image) => thumbnail.triggerAndWait({ image })))
for (const { output } of results) console.log(output.file)
await durably.stop()
