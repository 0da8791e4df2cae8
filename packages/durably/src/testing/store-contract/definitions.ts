// What workers say about their jobs.
import { deepEqual, equal } from '../assert.ts'
import { chapter } from './chapter.ts'
import { clusterOf } from './cluster-world.ts'

const MAIL = { name: 'mail', input: '{"type":"object"}', subscriptions: '[{"event":"user.created","filter":{}}]' }
const SYNC = { name: 'sync', input: null, subscriptions: null }

export const definitionsChapter = chapter('definitions of jobs', {
  'definitions are found by name, by page, and by whether they subscribe': async (world) => {
    const cluster = clusterOf(world)
    await cluster.putDefinitions([SYNC, MAIL])
    const updatedAt = world.env.wall()
    const rows = [MAIL, SYNC].map((job) => ({ ...job, version: 1, updatedAt }))
    deepEqual(await cluster.findDefinitions({ limit: 10 }), rows, 'all')
    deepEqual(await cluster.findDefinitions({ subscribed: true, limit: 10 }), rows.slice(0, 1), 'those that subscribe')
    deepEqual(await cluster.findDefinitions({ names: ['sync', 'none'], limit: 10 }), rows.slice(1), 'by name')
    deepEqual(await cluster.findDefinitions({ names: [], limit: 10 }), [], 'of no name')
    deepEqual(await cluster.findDefinitions({ limit: 1 }), rows.slice(0, 1), 'the first page')
    deepEqual(await cluster.findDefinitions({ after: 'mail', limit: 1 }), rows.slice(1), 'the next page')
  },

  'only what differs is written': async (world) => {
    const cluster = clusterOf(world)
    await cluster.putDefinitions([MAIL, SYNC])
    const before = await cluster.findDefinitions({ limit: 10 })
    await world.env.advance(1000)
    await cluster.putDefinitions([MAIL, SYNC])
    deepEqual(await cluster.findDefinitions({ limit: 10 }), before, 'the same')
    const changed = [
      { ...SYNC, input: '{}' },
      { ...MAIL, subscriptions: null },
    ]
    await cluster.putDefinitions(changed)
    const now = { version: 2, updatedAt: world.env.wall() }
    deepEqual(
      await cluster.findDefinitions({ limit: 10 }),
      [
        { ...MAIL, subscriptions: null, ...now },
        { ...SYNC, input: '{}', ...now },
      ],
      'changed',
    )
    deepEqual(await cluster.findDefinitions({ subscribed: true, limit: 10 }), [], 'those that subscribe')
  },

  'a definition can be removed': async (world) => {
    const cluster = clusterOf(world)
    await cluster.putDefinitions([MAIL])
    equal(await cluster.deleteDefinition('none'), false, 'one that does not exist')
    equal(await cluster.deleteDefinition('mail'), true, 'one that exists')
    deepEqual(await cluster.findDefinitions({ limit: 10 }), [], 'the rest')
    await cluster.putDefinitions([])
  },
})
