import { iso } from '../../model/env.ts'
import { RUN_STATUSES, type RunRow } from '../../model/run.ts'
import type { StepRow } from '../../model/step.ts'
import type { RunQuery } from '../../store/runs.ts'
import { deepEqual, equal, ok } from '../assert.ts'
import { chapter, type World } from './chapter.ts'
import { byId, create, get, held, inStatus, newRun, recordFailedStep, recordStep } from './world.ts'

export const queries = chapter('queries', {
  'an empty store has no runs': async (world) => {
    deepEqual(await world.store.runs.list({}), [], 'runs')
    equal(await world.store.runs.get(world.env.id()), null, 'a run')
  },

  'the newest run comes first': async (world) => {
    const ids: string[] = []
    for (let i = 0; i < 4; i++) {
      ids.unshift((await create(world)).id)
      await world.env.advance(1)
    }
    deepEqual(await list(world, {}), ids, 'order')
  },

  'the order is that of createdAt, not of the ids': async (world) => {
    const [a, b, c] = [world.env.id(), world.env.id(), world.env.id()]
    const at = (ms: number) => iso(world.env.wall() + ms)
    await create(world, { id: a, createdAt: at(2) })
    await create(world, { id: b, createdAt: at(3) })
    await create(world, { id: c, createdAt: at(1) })
    deepEqual(await list(world, {}), [b, a, c], 'order')
  },

  'runs of the same millisecond are listed by id, the greatest first': async (world) => {
    const runs = Array.from({ length: 5 }, () => newRun(world))
    await world.store.runs.create([3, 0, 4, 1, 2].flatMap((i) => runs[i] ?? []))
    deepEqual(await list(world, {}), runs.map((run) => run.id).reverse(), 'order')
  },

  'steps are found by their ids, within their run': async (world) => {
    const owner = await held(world, { jobName: 'one' })
    const other = await held(world, { jobName: 'other' })
    const steps: StepRow[] = []
    for (const [by, name] of [
      [owner, 'a'],
      [owner, 'b'],
      [owner, 'c'],
      [other, 'a'],
    ] as const) {
      const verb = name === 'b' ? recordFailedStep(by, { name }) : recordStep(by, { name })
      await by.succeed(verb)
      if (verb.type === 'recordStep') steps.push(verb.step)
    }
    const [a, b, c, foreign] = steps
    ok(a && b && c && foreign, 'four steps')
    const found = await world.store.steps.find(owner.run.id, [b.id, 'not there', foreign.id, a.id])
    deepEqual(byId(found), [a, b], 'two of them')
    deepEqual(await world.store.steps.find(owner.run.id, []), [], 'none')
    deepEqual(await world.store.steps.find('not there', [a.id]), [], 'of another run')
  },

  'the list shows the rows that get() reads': async (world) => {
    await inStatus(world, 'completed', 'a')
    await inStatus(world, 'failed', 'b')
    await inStatus(world, 'running', 'c')
    for (const row of await world.store.runs.list({})) deepEqual(row, await get(world, row.id), row.status)
  },

  'a list may be limited': async (world) => {
    const ids: string[] = []
    for (let i = 0; i < 4; i++) ids.unshift((await create(world)).id)
    deepEqual(await list(world, { limit: 2 }), ids.slice(0, 2), 'two')
    deepEqual(await list(world, { limit: 4 }), ids, 'as many as there are')
    deepEqual(await list(world, { limit: 100 }), ids, 'more than there are')
  },

  'a list may be narrowed to a status': async (world) => {
    const made = []
    for (const status of RUN_STATUSES) made.push({ status, id: (await inStatus(world, status, status)).id })
    for (const { status, id } of made) deepEqual(await list(world, { status }), [id], status)
  },

  'a list may be narrowed to a job': async (world) => {
    const one = await create(world, { jobName: 'one' })
    await create(world, { jobName: 'One' })
    const again = await create(world, { jobName: 'one' })
    deepEqual(await list(world, { jobName: 'one' }), [again.id, one.id], 'one')
    deepEqual(await list(world, { jobName: 'none' }), [], 'none')
    deepEqual(await list(world, { jobName: 'on_' }), [], 'no pattern')
  },

  'status, job and limit narrow a list together': async (world) => {
    await inStatus(world, 'completed', 'other')
    const ids = []
    for (let i = 0; i < 3; i++) ids.unshift((await inStatus(world, 'completed', 'job')).id)
    await inStatus(world, 'failed', 'job')
    deepEqual(await list(world, { status: 'completed', jobName: 'job', limit: 2 }), ids.slice(0, 2), 'runs')
  },

  'pages follow each other without a gap or a repeat, also within a millisecond': async (world) => {
    const runs = []
    for (const size of [3, 1, 4, 2]) {
      runs.unshift(...(await world.store.runs.create(Array.from({ length: size }, () => newRun(world)))).reverse())
      await world.env.advance(1)
    }
    const all = runs.map(({ run }) => run.id)
    for (const limit of [1, 2, 3, 7, 10]) {
      const seen: string[] = []
      let last: RunRow | undefined
      do {
        const page = await world.store.runs.list({ limit, ...(last && { after: { createdAt: last.createdAt, id: last.id } }) })
        seen.push(...page.map((run) => run.id))
        last = page.at(-1)
      } while (last && seen.length <= all.length)
      deepEqual(seen, all, `pages of ${limit}`)
    }
  },

  'a cursor need not be a run that still exists': async (world) => {
    const old = await create(world)
    await world.env.advance(1)
    const cursor = newRun(world)
    await world.env.advance(1)
    await create(world)
    deepEqual(await list(world, { after: cursor }), [old.id], 'what comes after')
  },

  'a cursor works together with a filter': async (world) => {
    const ids = []
    for (let i = 0; i < 6; i++) ids.unshift((await create(world, { jobName: i % 2 ? 'odd' : 'even' })).id)
    const first = await world.store.runs.list({ jobName: 'odd', limit: 1 })
    const after = first[0]
    deepEqual(await list(world, { jobName: 'odd', ...(after && { after }) }), [ids[2], ids[4]], 'the other odd ones')
  },

  'what a process wrote is there for the next one': async (world) => {
    if (!world.reopen) throw new Error('this world cannot be reopened: skip the case, with the reason')
    const { id } = await inStatus(world, 'completed', 'job')
    const before = await get(world, id)
    const again = await world.reopen()
    await again.migrate()
    deepEqual(await again.runs.get(id), before, 'the run')
    equal((await again.events.list(id)).length, before.lastEventSequence, 'its events')
  },
})

async function list({ store }: World, query: RunQuery): Promise<string[]> {
  return (await store.runs.list(query)).map((run) => run.id)
}
