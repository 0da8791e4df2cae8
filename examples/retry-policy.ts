// A retrying job: after a failed attempt the run goes back to the queue with a due time; other runs use the slot meanwhile.
import { createDurably, NonRetryableError, retry } from '@coji/durably'
import { memoryStore } from '@coji/durably/memory'
import { z } from 'zod'

const durably = createDurably({ store: memoryStore() })

const deliver = durably.defineJob(
  { name: 'deliver', input: z.object({ url: z.string() }), retry: retry.exponential({ maxAttempts: 4, initial: 20, max: 100 }) },
  async (ctx, { url }) => {
    const body = await ctx.run('render', () => {
      console.log(`rendering for ${url}`)
      return '{}'
    })
    if (url.includes('gone')) throw new NonRetryableError('410 Gone')
    if (ctx.attempt < 3) throw new Error('503 Service Unavailable')
    return `${body} delivered to ${url} at attempt ${ctx.attempt}`
  },
)

durably.on('run:retry', ({ attempt, error }) => console.log(`attempt ${attempt} failed: ${error}`))
durably.start({ handleSignals: true })
console.log((await deliver.triggerAndWait({ url: 'a.example' })).output)
const error = await deliver.triggerAndWait({ url: 'gone.example' }).catch((error) => error)
console.log(error.message.replace(error.runId, 'the run'))
await durably.stop()
