// The jobs of the tests: one for each thing that the dashboard shows.
import { setTimeout as pause } from 'node:timers/promises'
import { type Durably, retry } from '@coji/durably'
import { z } from 'zod'

export const HOSTILE = `<img src=x onerror="globalThis.hacked=true"><script>globalThis.hacked=true</script>"'\${1}`

export function defineJobs(durably: Durably) {
  const resize = durably.defineJob(
    { name: 'resize-image', input: z.object({ image: z.string(), width: z.number() }) },
    async (ctx, { image, width }) => {
      await ctx.run('resize', () => pause(120))
      return { image, width }
    },
  )

  const Rows = z.object({
    file: z.string().describe('Where the rows are.'),
    rows: z.number().int().min(1).max(10_000).default(120),
    mode: z.enum(['append', 'replace']),
    dryRun: z.boolean().optional(),
    csv: z.object({ delimiter: z.string(), encoding: z.string().optional() }).optional(),
  })
  const importCsv = durably.defineJob({ name: 'import-csv', input: Rows }, async (ctx, { file, rows, mode }) => {
    await ctx.run('read file', () => pause(150))
    ctx.log.info(`reading ${file}`, { rows, mode })
    const batches = 4
    for (let i = 0; i < batches; i++) {
      await ctx.run(`import rows ${i + 1}/${batches}`, () => pause(4 * rows))
      ctx.progress(Math.round(((i + 1) / batches) * rows), rows, 'importing rows')
      if (i === 1) ctx.log.warn('2 rows have no city', { lines: [17, 41] })
    }
    for (const width of [64, 256]) await ctx.invoke(resize, { image: `${file}.png`, width })
    return { imported: rows, at: new Date('2026-11-01T10:00:00Z') }
  })

  const approveInvoice = durably.defineJob(
    { name: 'approve-invoice', input: z.object({ invoice: z.string(), cents: z.number() }) },
    async (ctx) => {
      await ctx.run('prepare', () => pause(60))
      const answer = await ctx.waitFor('approval', { timeout: '7d' })
      return ctx.run('file', () => ({ answer }))
    },
  )

  const chargeCard = durably.defineJob({ name: 'charge-card', input: z.object({ customer: z.string() }) }, async (ctx, { customer }) => {
    await ctx.run('look up customer', () => pause(80))
    await ctx.run('charge', () => {
      throw new Error(`The card of ${customer} was declined`, { cause: Object.assign(new Error('insufficient_funds'), { code: 'E402' }) })
    })
  })

  let tries = 0
  const syncCrm = durably.defineJob({ name: 'sync-crm', input: z.object({}) }, async (ctx) => {
    await ctx.run('pull contacts', { retry: retry.fixed({ maxAttempts: 3, delay: '150ms' }) }, async () => {
      await pause(90)
      if (tries++ === 0) throw new Error('502 Bad Gateway')
    })
    await ctx.sleep('until tomorrow', '20h')
  })

  const summarize = durably.defineJob({ name: 'summarize', input: z.object({ text: z.string() }) }, async (ctx, { text }) =>
    ctx.stream('write', async (emit) => {
      for (const word of text.split(' ')) {
        await emit(`${word} `)
        await pause(25)
      }
      return text.length
    }),
  )

  const monthlyReport = durably.defineJob({ name: 'monthly-report', input: z.object({ month: z.string() }) }, async (ctx, { month }) => {
    await ctx.run('open ledger', () => pause(100))
    await ctx.run('fetch orders', () => pause(200))
    await ctx.run('match refunds', () => pause(180))
    await ctx.run('sum by region', () => pause(150))
    await ctx.run('render report', () => pause(300))
    return { month, total: 48_120.5 }
  })

  const pay = durably.defineJob({ name: 'pay', input: z.object({}) }, (ctx) => ctx.run('transfer', { effect: 'once' }, () => 'paid'))
  const quick = durably.defineJob({ name: 'quick', input: z.unknown() }, async () => null)
  const echo = durably.defineJob({ name: 'echo', input: z.unknown() }, async (ctx, input) => ctx.run('echo', () => input))
  const hostile = durably.defineJob({ name: HOSTILE, input: z.unknown() }, async (ctx) => {
    ctx.log.error(HOSTILE, { [HOSTILE]: HOSTILE })
    ctx.progress(1, 2, HOSTILE)
    await ctx.run(HOSTILE, () => HOSTILE)
    await ctx.stream(`stream ${HOSTILE}`, async (emit) => emit(HOSTILE))
    throw new Error(HOSTILE)
  })
  return { resize, importCsv, approveInvoice, chargeCard, syncCrm, summarize, monthlyReport, pay, quick, echo, hostile }
}
