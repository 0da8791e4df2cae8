// Labels: what a run is given comes back, and finds it, together with every other condition.
import type { Labels } from '../../model/labels.ts'
import type { NewRun, RunQuery } from '../../store/runs.ts'
import { deepEqual, equal } from '../assert.ts'
import { chapter, type World } from './chapter.ts'
import { TEXTS } from './hostile-texts.ts'
import { complete, create, get, held, inStatus, mustClaim, newRun } from './world.ts'

async function labelled(world: World, labels: Labels, run: Partial<NewRun> = {}): Promise<string> {
  return (await create(world, { ...run, labels: JSON.stringify(labels) })).id
}

async function list({ store }: World, query: RunQuery): Promise<string[]> {
  return (await store.runs.list(query)).map((run) => run.id)
}

const ACME = { tenant: 'acme' }

export const labels = chapter('labels', {
  'labels come back with their run, wherever it is read': async (world) => {
    const labels = JSON.stringify({ tenant: 'acme', 'app/kind:x': 'import' })
    const { id } = await create(world, { labels })
    equal((await get(world, id)).labels, labels, 'get')
    equal((await world.store.runs.list({}))[0]?.labels, labels, 'list')
    const owner = await mustClaim(world)
    equal(owner.run.labels, labels, 'claim')
    await owner.succeed(complete())
    equal((await get(world, id)).labels, labels, 'after its end')
    equal((await create(world)).labels, null, 'a run without labels')
  },

  'a list may be narrowed to runs that have all of some labels': async (world) => {
    const both = await labelled(world, { tenant: 'acme', kind: 'import' })
    const one = await labelled(world, { tenant: 'acme', kind: 'export' })
    const swapped = await labelled(world, { tenant: 'import', kind: 'acme' })
    const plain = (await create(world)).id
    for (const page of [{}, { limit: 5 }]) {
      deepEqual(await list(world, { labels: ACME, ...page }), [one, both], 'one label')
      deepEqual(await list(world, { labels: { tenant: 'acme', kind: 'import' }, ...page }), [both], 'two labels')
      deepEqual(await list(world, { labels: { kind: 'import', tenant: 'acme' }, ...page }), [both], 'in another order')
      deepEqual(await list(world, { labels: { kind: 'acme' }, ...page }), [swapped], 'the value of another name')
      deepEqual(await list(world, { labels: { tenant: 'Acme' }, ...page }), [], 'letters count')
      deepEqual(await list(world, { labels: { tenant: 'acm' }, ...page }), [], 'no beginnings')
      deepEqual(await list(world, { labels: { tenant: 'acme', kind: 'none' }, ...page }), [], 'one that no run has')
      deepEqual(await list(world, { labels: {}, ...page }), [plain, swapped, one, both], 'no label')
    }
  },

  'labels narrow a list together with every other condition': async (world) => {
    const done = (await inStatus(world, 'completed', 'a', { labels: JSON.stringify(ACME), idempotencyKey: 'once' })).id
    await inStatus(world, 'completed', 'a')
    const failed = (await inStatus(world, 'failed', 'b', { labels: JSON.stringify(ACME) })).id
    const child = await labelled(world, ACME, { jobName: 'c', parentRunId: failed, concurrencyKey: 'k', delayMs: 1000 })
    await create(world, { jobName: 'c', parentRunId: failed, concurrencyKey: 'k' })
    const asked: [RunQuery, string[]][] = [
      [{ statuses: ['completed'] }, [done]],
      [{ statuses: ['completed', 'failed'], jobNames: ['b', 'c'] }, [failed]],
      [{ jobNames: ['a', 'b'] }, [failed, done]],
      [{ phases: ['sleeping'] }, [child]],
      [{ parentRunId: failed }, [child]],
      [{ concurrencyKey: 'k' }, [child]],
      [{ idempotencyKey: 'once' }, [done]],
      [{ finishedFrom: 0 }, [failed, done]],
      [{ fromId: failed }, [child, failed]],
      [{ beforeId: failed }, [done]],
      [{ statuses: [] }, []],
    ]
    for (const [query, ids] of asked)
      for (const page of [{}, { limit: 3 }])
        deepEqual(await list(world, { ...query, ...page, labels: ACME }), ids, JSON.stringify({ ...query, ...page }))
  },

  'pages of a label follow each other both ways': async (world) => {
    const ids: string[] = []
    for (let i = 0; i < 7; i++) {
      ids.unshift(await labelled(world, { tenant: 'acme', n: `${i}` }))
      await labelled(world, { tenant: 'other' })
    }
    for (const oldestFirst of [false, true]) {
      const seen: string[] = []
      for (let page = await list(world, { labels: ACME, oldestFirst, limit: 3 }); page.length > 0 && seen.length <= ids.length; ) {
        seen.push(...page)
        page = await list(world, { labels: ACME, oldestFirst, limit: 3, after: { id: page.at(-1) ?? '' } })
      }
      deepEqual(seen, oldestFirst ? ids.toReversed() : ids, oldestFirst ? 'the oldest first' : 'the newest first')
    }
  },

  'a known run keeps its labels': async (world) => {
    const first = await labelled(world, ACME, { idempotencyKey: 'k' })
    const again = newRun(world, { idempotencyKey: 'k', labels: '{"tenant":"other"}' })
    const batch = [again, newRun(world, { labels: '{"tenant":"third"}' })]
    const created = await world.store.runs.create(batch)
    deepEqual(
      created.map(({ run }) => run.labels),
      ['{"tenant":"acme"}', '{"tenant":"third"}'],
      'answers',
    )
    deepEqual(await list(world, { labels: ACME }), [first], 'by its own')
    deepEqual(await list(world, { labels: { tenant: 'other' } }), [], 'by those of the second trigger')
    await world.store.runs.create(batch)
    deepEqual(await list(world, { labels: { tenant: 'third' }, limit: 5 }), [batch[1]?.id ?? ''], 'sent twice, stored once')
  },

  'a run that was deleted or purged is not found by its labels, and its labels can be given again': async (world) => {
    const { id } = await inStatus(world, 'completed', 'a', { labels: JSON.stringify(ACME) })
    await inStatus(world, 'completed', 'b', { labels: JSON.stringify(ACME) })
    await world.store.runs.delete(id)
    equal((await list(world, { labels: ACME })).length, 1, 'after the delete')
    await world.store.runs.purge({ statuses: ['completed'], olderThanMs: 0, limit: 10 })
    deepEqual(await list(world, { labels: ACME }), [], 'after the purge')
    await labelled(world, ACME, { id })
    deepEqual(await list(world, { labels: ACME }), [id], 'a new run with the id of the old one')
  },

  'any text is the value of a label': async (world) => {
    const texts = [...Object.values(TEXTS), '', 'x'.repeat(256), '\u{1F600}'.repeat(128)]
    const runs = texts.map((value) => newRun(world, { labels: JSON.stringify({ value }) }))
    await world.store.runs.create(runs)
    for (const [i, value] of texts.entries())
      deepEqual(await list(world, { labels: { value } }), [runs[i]?.id ?? ''], JSON.stringify(value).slice(0, 100))
  },

  'many runs with sixteen long labels each are one call': async (world) => {
    const names = Array.from({ length: 16 }, (_, i) => `${i}`.padEnd(64, 'x'))
    const labels = Object.fromEntries(names.map((name) => [name, 'v'.repeat(256)]))
    await world.store.runs.create(Array.from({ length: 50 }, () => newRun(world, { labels: JSON.stringify(labels) })))
    equal((await list(world, { labels })).length, 50, 'found by all of them')
  },

  'labels last when the store is opened again': async (world) => {
    const owner = await held(world, { labels: JSON.stringify(ACME) })
    const again = (await world.reopen?.()) ?? world.store
    deepEqual(
      (await again.runs.list({ labels: ACME })).map((run) => run.id),
      [owner.run.id],
      'found',
    )
  },
})
