// A process that fires schedules, chooses the workers of their runs while it leads, and executes those that were chosen for it. It tells its trouble,
// and writes to a ledger when each execution begins and ends: one line with the run, this process, and the time.
import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { cluster } from '../../../packages/durably/dist/cluster.js'
import { createDurably } from '../../../packages/durably/dist/index.js'
import { postgres } from '../../../packages/durably/dist/postgres/index.js'
import { sqlite } from '../../../packages/durably/dist/sqlite/index.js'
import { anything } from './anything.ts'

const [place = '', workerId = '', ledger = ''] = process.argv.slice(2)
const dialect = place.startsWith('postgres') ? postgres(place) : sqlite(place, { durability: 'relaxed' })
const durably = createDurably({ dialect, workerId, concurrency: 20, logger: false })
const note = (what: 'begin' | 'end', runId: string) => appendFileSync(ledger, `${what} ${runId} ${process.pid} ${Date.now()}\n`)
durably.defineJob({ name: 'tick', input: anything }, async (ctx) => {
  note('begin', ctx.runId)
  try {
    // The times differ, so that a process that is killed has runs in every state.
    for (const name of ['one', 'two']) await ctx.run(name, () => sleep(Number.parseInt(ctx.runId.slice(-2), 32) / 4))
    return workerId
  } finally {
    note('end', ctx.runId)
  }
})
durably.on('worker:error', ({ cause }) => process.send?.((cause as { code?: string }).code ?? String(cause)))
cluster(durably, { dispatch: 'leader', reassignAfter: '5s' })
durably.start()
process.send?.('started')
process.on('disconnect', () => process.exit())
