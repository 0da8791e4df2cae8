import { RUN_STATUSES, type RunRow } from '../../model/run.ts'
import type { StepRow } from '../../model/step.ts'
import type { RunQuery } from '../../store/runs.ts'
import { deepEqual, equal, ok } from '../assert.ts'
import { chapter, type World } from './chapter.ts'
import { byId, create, fail, get, held, inStatus, newRun, recordFailedStep, recordStep } from './world.ts'

export const queries = chapter('queries', {
  'an empty store has no runs': async (world) => {
    deepEqual(await world.store.runs.list({}), [], 'runs')
    equal(await world.store.runs.get(world.env.id()), null, 'a run')
  },

  'a list without values has neither inputs nor outputs, and all the rest': async (world) => {
    const owner = await held(world, { payload: '"in"' })
    await owner.succeed({ type: 'complete', output: '"out"' })
    await create(world, { payload: '"waiting"' })
    for (const query of [{}, { limit: 5, statuses: RUN_STATUSES }, { jobNames: [owner.run.jobName], limit: 5 }] satisfies RunQuery[]) {
      const whole = await world.store.runs.list(query)
      equal(whole.filter(({ payload }) => payload !== null).length, 2, 'inputs')
      const without = await world.store.runs.list({ ...query, withoutValues: true })
      const stripped = whole.map((run) => ({ ...run, payload: null, output: null }))
      deepEqual(
        without.map(({ readAt: _, ...run }) => run),
        stripped.map(({ readAt: _, ...run }) => run),
        'the rest',
      )
    }
  },

  'the newest run comes first': async (world) => {
    const ids: string[] = []
    for (let i = 0; i < 4; i++) {
      ids.unshift((await create(world)).id)
      await world.env.advance(1)
    }
    deepEqual(await list(world, {}), ids, 'order')
  },

  'the order is that of the ids, which contain the time of creation': async (world) => {
    const [a, b, c] = [world.env.id(), world.env.id(), world.env.id()]
    for (const id of [b, c, a]) {
      await create(world, { id })
      await world.env.advance(1)
    }
    deepEqual(await list(world, {}), [c, b, a], 'order')
    deepEqual(await list(world, { oldestFirst: true }), [a, b, c], 'the other way round')
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
    for (const { status, id } of made) deepEqual(await list(world, { statuses: [status] }), [id], status)
    for (const limit of [undefined, 3]) {
      const page = limit === undefined ? {} : { limit }
      deepEqual(await list(world, { statuses: ['failed', 'pending'], ...page }), idsOf(made, ['failed', 'pending']), 'two of them')
      deepEqual(await list(world, { statuses: [], ...page }), [], 'none')
    }
  },

  'a list may be narrowed to a job': async (world) => {
    const one = await create(world, { jobName: 'one' })
    const other = await create(world, { jobName: 'One' })
    const again = await create(world, { jobName: 'one' })
    deepEqual(await list(world, { jobNames: ['one'] }), [again.id, one.id], 'one')
    deepEqual(await list(world, { jobNames: ['none'] }), [], 'none')
    deepEqual(await list(world, { jobNames: ['on_'] }), [], 'no pattern')
    deepEqual(await list(world, { jobNames: ['one', 'none', 'One'], limit: 2 }), [again.id, other.id], 'several')
    deepEqual(await list(world, { jobNames: [], limit: 2 }), [], 'no job')
  },

  'status, job and limit narrow a list together': async (world) => {
    await inStatus(world, 'completed', 'other')
    const ids = []
    for (let i = 0; i < 3; i++) ids.unshift((await inStatus(world, 'completed', 'job')).id)
    await inStatus(world, 'failed', 'job')
    deepEqual(await list(world, { statuses: ['completed'], jobNames: ['job'], limit: 2 }), ids.slice(0, 2), 'runs')
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
        const page = await world.store.runs.list({ limit, ...(last && { after: { id: last.id } }) })
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
    deepEqual(await list(world, { after: { id: cursor.id } }), [old.id], 'what comes after')
  },

  'a cursor works together with a filter': async (world) => {
    const ids = []
    for (let i = 0; i < 6; i++) ids.unshift((await create(world, { jobName: i % 2 ? 'odd' : 'even' })).id)
    const first = await world.store.runs.list({ jobNames: ['odd'], limit: 1 })
    const after = first[0]
    deepEqual(await list(world, { jobNames: ['odd'], ...(after && { after: { id: after.id } }) }), [ids[2], ids[4]], 'the other odd ones')
  },

  'the tokens of running runs are known, and no others': async (world) => {
    deepEqual(await world.store.runs.held(), [], 'nobody holds a run')
    const owners = [await held(world, { jobName: 'a' }), await held(world, { jobName: 'b' }), await held(world, { jobName: 'c' })]
    await owners[1]?.succeed({ type: 'release' })
    const tokens = [owners[0], owners[2]].map((owner) => owner?.claim.token ?? '')
    deepEqual((await world.store.runs.held()).sort(), tokens.sort(), 'two of three')
  },

  'a list may be narrowed to phases, which change with time': async (world) => {
    const now = await create(world)
    const later = await create(world, { delayMs: 1000 })
    deepEqual(await list(world, { phases: ['sleeping'], limit: 5 }), [later.id], 'asleep')
    deepEqual(await list(world, { phases: ['pending'], limit: 5 }), [now.id], 'due')
    deepEqual(await list(world, { phases: ['pending', 'sleeping', 'waiting'] }), [later.id, now.id], 'both')
    await world.env.advance(1000)
    deepEqual(await list(world, { phases: ['sleeping'] }), [], 'nobody is asleep')
    deepEqual(await list(world, { phases: ['pending'], statuses: ['failed'] }), [], 'no status has it')
  },

  'a list may be narrowed to failed runs that ran out of time, or to the others': async (world) => {
    const waiting = await create(world, { jobName: 'waiting' })
    const late = await held(world, { jobName: 'late' })
    await late.succeed({ type: 'fail', error: 'late', failure: '{}', reason: 'timeout', failedStepName: '' })
    const broken = await held(world, { jobName: 'broken' })
    await broken.succeed(fail())
    deepEqual(await list(world, { phases: ['failed'], timedOut: true, limit: 5 }), [late.run.id], 'those')
    deepEqual(
      await list(world, { phases: ['failed', 'pending'], timedOut: false }),
      [broken.run.id, waiting.id],
      'the others, and what has not failed',
    )
    deepEqual(
      await list(world, { timedOut: true, jobNames: ['late', 'broken', 'waiting'], limit: 5 }),
      [late.run.id, waiting.id],
      'beside jobs',
    )
  },

  'a list may be narrowed to a key, a parent and a range of ids': async (world) => {
    const parent = await create(world, { idempotencyKey: 'once' })
    const child = await create(world, { parentRunId: parent.id, concurrencyKey: 'k' })
    const last = await create(world, { concurrencyKey: 'k', idempotencyKey: 'again' })
    deepEqual(await list(world, { idempotencyKey: 'once', limit: 5 }), [parent.id], 'idempotency key')
    deepEqual(await list(world, { concurrencyKey: 'k', limit: 5 }), [last.id, child.id], 'concurrency key')
    deepEqual(await list(world, { parentRunId: parent.id, limit: 5 }), [child.id], 'parent')
    deepEqual(await list(world, { concurrencyKey: 'k', idempotencyKey: 'again' }), [last.id], 'both keys')
    deepEqual(await list(world, { fromId: child.id }), [last.id, child.id], 'from')
    deepEqual(await list(world, { beforeId: child.id }), [parent.id], 'before')
    deepEqual(await list(world, { concurrencyKey: 'K' }), [], 'another key')
  },

  'a range of ends is listed by them': async (world) => {
    const owners = []
    for (const jobName of ['a', 'b', 'c']) owners.push(await held(world, { jobName }))
    const ends: number[] = []
    for (const owner of owners.toReversed()) {
      await world.env.advance(10)
      await owner.succeed({ type: 'complete', output: null })
      ends.unshift(world.env.wall())
    }
    const [a, b, c] = owners.map(({ run }) => run.id)
    const [, middle = 0] = ends
    await create(world)
    deepEqual(await list(world, { finishedFrom: 0, limit: 5 }), [a, b, c], 'all that have ended')
    deepEqual(await list(world, { finishedFrom: middle }), [a, b], 'from')
    deepEqual(await list(world, { finishedBefore: middle, limit: 5 }), [c], 'before')
    deepEqual(await list(world, { finishedFrom: 0, oldestFirst: true, limit: 2 }), [c, b], 'the other way round')
    deepEqual(await list(world, { finishedFrom: 0, limit: 2, after: { id: b ?? '', finishedAt: middle } }), [c], 'after a place')
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

function idsOf(made: readonly { status: string; id: string }[], statuses: readonly string[]): string[] {
  const wanted = made.filter(({ status }) => statuses.includes(status))
  return wanted.map(({ id }) => id).reverse()
}

async function list({ store }: World, query: RunQuery): Promise<string[]> {
  return (await store.runs.list(query)).map((run) => run.id)
}
