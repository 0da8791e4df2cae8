// Cron in ten lines: any started process runs the job, each time once, also with several processes.
import { createDurably } from '@coji/durably'
import { memoryStore } from '@coji/durably/memory'
import { z } from 'zod'

const durably = createDurably({ store: memoryStore() }) // in production a database
const tick = durably.defineJob({ name: 'tick', input: z.object({}) }, (ctx) => console.log(ctx.scheduledFor ? 'tick' : 'by hand'))
await durably.schedule({ job: tick, cron: '* * * * * *', payload: {} })
durably.start({ handleSignals: true })

const ticked = new Promise((resolve) => durably.on('run:complete', resolve))
await ticked
await durably.schedules.pause('tick')
const { id } = await durably.schedules.trigger('tick')
for await (const event of durably.subscribe(id)) if (event.type === 'run:complete') await durably.stop()
