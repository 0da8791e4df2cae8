// The jobs of `durably dev` in a folder without job files: each shows something that is hard without Durably.
import { setTimeout as pause } from 'node:timers/promises'
import { type Durably, retry } from '@coji/durably'
import { fields } from './sample-schema.ts'

export const REPORT_STEPS = [
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

/** Kill the worker in the middle: the next one goes on after the last recorded step. */
function defineReport(durably: Durably): void {
  const input = fields({
    month: { type: 'string', title: 'Month', default: '2026-10' },
    stepMs: { type: 'integer', title: 'Milliseconds a step', default: 350 },
  })
  durably.defineJob({ name: 'monthly-report', input }, async (ctx, { month, stepMs }) => {
    let total = 0
    for (const [i, name] of REPORT_STEPS.entries()) {
      total += await ctx.run(name, async () => {
        await pause(stepMs)
        return name.length * 100
      })
      ctx.progress(i + 1, REPORT_STEPS.length, name)
    }
    return { month, total }
  })
}

/** Waits for somebody, for as long as it takes, and holds nothing meanwhile. */
function defineApproval(durably: Durably): void {
  const input = fields({ what: { type: 'string', title: 'What to approve', default: 'a new laptop' } })
  durably.defineJob({ name: 'approval', input }, async (ctx, { what }) => {
    await ctx.run('ask', () => `Please approve ${what}`)
    const answer = await ctx.waitFor('approval')
    return { what, answer }
  })
}

/** Sleeps for longer than anybody waits: move the clock on. */
function defineReminder(durably: Durably): void {
  const input = fields({ minutes: { type: 'integer', title: 'Minutes', default: 45 } })
  durably.defineJob({ name: 'reminder', input }, async (ctx, { minutes }) => {
    ctx.log.info(`reminds in ${minutes} minutes`)
    await ctx.sleep('until-then', minutes * 60_000)
    return ctx.run('remind', () => 'It is time.')
  })
}

/** Fails now and then, and is tried again by its policy. */
function defineFlaky(durably: Durably): void {
  const input = fields({ failures: { type: 'integer', title: 'How often it fails', default: 2 } })
  durably.defineJob({ name: 'flaky-import', input, retry: retry.exponential({ maxAttempts: 5 }) }, async (ctx, { failures }) => {
    const rows = await ctx.run('download', () => 1200)
    if (ctx.attempt <= failures) throw new Error(`the server answered 503 at attempt ${ctx.attempt}`)
    return ctx.run('store', () => ({ rows }))
  })
}

function defineCleanUp(durably: Durably): Promise<unknown> {
  const cleanUp = durably.defineJob({ name: 'clean-up', input: fields({}) }, async (ctx) => ctx.run('clean', () => 'nothing to do'))
  return durably.schedule({ job: cleanUp, every: '30m', payload: {} })
}

export default async (durably: Durably): Promise<void> => {
  defineReport(durably)
  defineApproval(durably)
  defineReminder(durably)
  defineFlaky(durably)
  await defineCleanUp(durably)
}
