import type { RowPage } from '../../store/row-page.ts'
import { deepEqual, equal, ok } from '../assert.ts'
import { chapter } from './chapter.ts'
import { complete, create, held, ids, logLine, mustClaim, type Owner, recordFailedStep, recordStep, release } from './world.ts'

/** Two of them have one index, and none is recorded in the order of the list. */
async function recordSteps(owner: Owner): Promise<void> {
  for (const [name, index] of Object.entries({ d: 7, a: 0, c: 5, e: 9 })) await owner.succeed(recordStep(owner, { name, index }))
  for (const _ of [1, 2]) await owner.succeed(recordFailedStep(owner, { name: 'b', index: 3 }))
  await owner.succeed(recordStep(owner, { name: 'b', index: 3 }))
}

/** Page by page; each page begins after the last row of the one before. */
async function inPages<T extends { id: string }>(limit: number, read: (page: RowPage) => Promise<T[] | null>): Promise<T[]> {
  const rows: T[] = []
  for (let page = await read({ limit }); ; page = await read({ limit, after: rows.at(-1)?.id ?? '' })) {
    ok(page, 'the pages can be read')
    ok(page.length <= limit && rows.length < 100, 'pages are not longer than asked for, and come to an end')
    rows.push(...page)
    if (page.length < limit) return rows
  }
}

export const pages = chapter('pages of steps and log lines', {
  'steps are the same in pages of any size': async (world) => {
    const owner = await held(world)
    await recordSteps(owner)
    const { steps } = world.store
    const all = await steps.list(owner.run.id)
    deepEqual(all.map(({ name }) => name).join(''), 'abbbcde', 'all of them')
    for (const limit of [1, 2, 3, 7, 100]) {
      deepEqual(await inPages(limit, (page) => steps.list(owner.run.id, page)), all, `in pages of ${limit}`)
      deepEqual(await inPages(limit, (page) => steps.listOwned(owner.claim, page)), all, `for the owner, in pages of ${limit}`)
    }
    deepEqual(await steps.list(owner.run.id, { after: all[2]?.id ?? '' }), all.slice(3), 'after one of them, without a limit')
  },

  'steps of other runs are in no page': async (world) => {
    const one = await held(world, { jobName: 'one' })
    await recordSteps(one)
    const other = await held(world, { jobName: 'other' })
    await recordSteps(other)
    const { steps } = world.store
    equal((await steps.list(one.run.id, { limit: 20 })).length, 7, 'steps of the one')
    const [foreign] = await steps.list(other.run.id)
    deepEqual(await steps.list(one.run.id, { after: foreign?.id ?? '' }), [], 'after a step of another run')
    deepEqual(await steps.listOwned(one.claim, { after: foreign?.id ?? '' }), [], 'for the owner')
    deepEqual(await steps.list(one.run.id, { after: 'nothing' }), [], 'after a step that there is not')
  },

  'an owner that was replaced reads no further page': async (world) => {
    const stale = await held(world)
    await recordSteps(stale)
    const { steps } = world.store
    const first = await steps.listOwned(stale.claim, { limit: 3 })
    const after = first?.at(-1)?.id ?? ''
    await stale.succeed(release())
    equal(await steps.listOwned(stale.claim, { after, limit: 3 }), null, 'while nobody holds it')
    const owner = await mustClaim(world)
    equal(await steps.listOwned(stale.claim, { after, limit: 3 }), null, 'while another one holds it')
    equal((await steps.listOwned(owner.claim, { after, limit: 3 }))?.length, 3, 'what the new owner reads')
    await owner.succeed(complete())
    equal(await steps.listOwned(owner.claim, { limit: 3 }), null, 'after the end')
  },

  'log lines come by id, however they were stored, in pages of any size': async (world) => {
    const { id } = await create(world)
    const other = await create(world)
    const lines = Array.from({ length: 7 }, (_, i) => logLine(world, id, { message: `${i}` }))
    const { logs } = world.store
    await logs.append(lines.filter((_, i) => i % 2))
    await logs.append([...lines.filter((_, i) => i % 2 === 0), logLine(world, other.id)])
    deepEqual(await logs.list(id), lines, 'all of them')
    for (const limit of [1, 2, 3, 7, 100]) deepEqual(await inPages(limit, (page) => logs.list(id, page)), lines, `in pages of ${limit}`)
    deepEqual(ids(await logs.list(id, { after: lines[4]?.id ?? '' })), ids(lines.slice(5)), 'after one of them, without a limit')
  },
})
