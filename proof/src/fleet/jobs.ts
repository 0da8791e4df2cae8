// The jobs of the fleet: one that tells a story as a stream, one of many steps, one that works until it is asked to stop.
// Every call of a step's function is recorded outside of the engine, so that a second call is noticed.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Durably } from '@coji/durably'
import type pg from 'pg'
import { z } from 'zod'

export const CALLS_TABLE = 'CREATE TABLE IF NOT EXISTS fleet_calls (run_id text NOT NULL, step text NOT NULL, worker text NOT NULL)'

type WriteDown = (runId: string, step: string) => Promise<void>

export function callsTo(pool: pg.Pool, worker: string): WriteDown {
  return async (runId, step) => {
    await pool.query('INSERT INTO fleet_calls VALUES ($1, $2, $3)', [runId, step, worker])
  }
}

export function storyOf(words: number): string {
  return Array.from({ length: words }, (_, i) => `word${i} `).join('')
}

export function defineJobs(durably: Durably, called: WriteDown) {
  return {
    story: durably.defineJob(
      { name: 'story', input: z.object({ words: z.number().int(), everyMs: z.number() }), output: z.string() },
      async (ctx, { words, everyMs }) => {
        await ctx.run('plan', () => called(ctx.runId, 'plan'))
        const text = await ctx.stream<string, number>('tell', async (emit, checkpoint, { signal }) => {
          await called(ctx.runId, 'tell')
          for (let i = checkpoint.state ?? 0; i < words; i++) {
            await emit(`word${i} `)
            if (i % 10 === 9) await checkpoint(i + 1)
            await sleep(everyMs, undefined, { signal })
          }
          return storyOf(words)
        })
        await ctx.run('close', () => called(ctx.runId, 'close'))
        return text
      },
    ),
    steps: durably.defineJob({ name: 'steps', input: z.object({ count: z.number().int(), everyMs: z.number() }) }, async (ctx, input) => {
      for (let i = 0; i < input.count; i++) {
        await ctx.run(`step ${i}`, async ({ signal }) => {
          await called(ctx.runId, `step ${i}`)
          await sleep(input.everyMs, undefined, { signal })
          return { i, text: '<b>"quoted"\n\u2028</b> 😀', at: new Date(i) }
        })
        ctx.progress(i + 1, input.count)
      }
    }),
    hold: durably.defineJob({ name: 'hold', input: z.object({}) }, (ctx) =>
      ctx.run('hold', async ({ signal }) => {
        await called(ctx.runId, 'hold')
        await sleep(600_000, undefined, { signal })
      }),
    ),
  }
}

export type FleetJobs = ReturnType<typeof defineJobs>
