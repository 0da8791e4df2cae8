// Talk — an engine on Postgres with a job that streams words. Each word is the time at which it was emitted.
import { z } from 'zod'
import { createDurably } from '../../packages/durably/dist/index.js'
import { postgres } from '../../packages/durably/dist/postgres/index.js'

interface Talk {
  words: number
  everyMs: number
  concurrency: number
}

/** The same clock in every process of this machine. */
export const now = () => performance.timeOrigin + performance.now()

export function talkingEngine(url: string, { words, everyMs, concurrency }: Talk) {
  const durably = createDurably({ dialect: postgres(url), concurrency })
  const talk = durably.defineJob({ name: 'talk', input: z.object({}) }, (ctx) =>
    ctx.stream('talk', async (emit) => {
      for (let i = 0; i < words; i++) {
        await emit(`${now()}\n`)
        await new Promise((resolve) => setTimeout(resolve, everyMs))
      }
    }),
  )
  return { durably, talk }
}
