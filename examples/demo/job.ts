// The job of the demo: a month's report in a dozen steps. It contains no code for the case that its worker is killed.
import { setTimeout as pause } from 'node:timers/promises'
import { createDurably, type Durably } from '@coji/durably'
import { sqlite } from '@coji/durably/sqlite'
import { z } from 'zod'

export const STEPS = [
  'open-ledger',
  'fetch-orders',
  'fetch-refunds',
  'fetch-rates',
  'convert-currencies',
  'match-refunds',
  'sum-by-region',
  'sum-by-product',
  'check-totals',
  'render-report',
  'archive-report',
  'send-report',
]

/** Short, so that the demo need not wait the default 30 seconds until the lease of the killed worker expires. */
export const LEASE_MS = 1500

export function openDurably(file: string): Durably {
  return createDurably({ dialect: sqlite(file), staleThreshold: LEASE_MS, pollingInterval: 200 })
}

/** `onStep` lets the demo show which steps ran in this process and which were recorded before. */
export function defineReport(durably: Durably, onStep: (name: string, ran: boolean) => void = () => {}) {
  return durably.defineJob(
    {
      name: 'monthly-report',
      input: z.object({ month: z.string() }),
      output: z.object({ month: z.string(), total: z.number() }),
    },
    async (ctx, { month }) => {
      let total = 0
      for (const [i, name] of STEPS.entries()) {
        let ran = false
        total += await ctx.run(name, async () => {
          ran = true
          await pause(350)
          return name.length * 100
        })
        // Only reached once the step is recorded.
        onStep(name, ran)
        ctx.progress(i + 1, STEPS.length, name)
      }
      return { month, total }
    },
  )
}
