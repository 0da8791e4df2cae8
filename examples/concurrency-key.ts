// Concurrency keys: runs with the same key never overlap; runs with different keys do not wait for each other.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createDurably } from '@coji/durably'
import { sqlite } from '@coji/durably/sqlite'
import { z } from 'zod'

const folder = mkdtempSync(join(tmpdir(), 'durably-'))
process.on('exit', () => rmSync(folder, { recursive: true }))

const durably = createDurably({ dialect: sqlite(join(folder, 'app.db')), concurrency: 4 })
const active: string[] = []
let mostAtOnce = 0
let overlapsOfOneKey = 0

const syncOrg = durably.defineJob({ name: 'sync-org', input: z.object({ orgId: z.string() }) }, async (ctx, { orgId }) => {
  await ctx.run('sync', async () => {
    if (active.includes(orgId)) overlapsOfOneKey++
    active.push(orgId)
    mostAtOnce = Math.max(mostAtOnce, active.length)
    await pause(50)
    active.splice(active.indexOf(orgId), 1)
  })
})

await durably.migrate()
const orgIds = ['org_1', 'org_1', 'org_1', 'org_2', 'org_2', 'org_3']
await syncOrg.batchTrigger(orgIds.map((orgId) => ({ payload: { orgId }, options: { concurrencyKey: orgId } })))
await durably.processUntilIdle()

console.log(`${(await syncOrg.getRuns({ status: 'completed' })).length} runs completed`)
console.log(`overlaps of one key: ${overlapsOfOneKey}`)
console.log(`keys side by side: ${mostAtOnce > 1 ? 'yes' : 'no'}`)
await durably[Symbol.asyncDispose]()
