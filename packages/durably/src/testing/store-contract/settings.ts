// Settings of all processes: one row, whose version guards it.
import { deepEqual, equal, ok } from '../assert.ts'
import { chapter } from './chapter.ts'
import { assignedRun, candidate, clusterOf, elect } from './cluster-world.ts'

export const settingsChapter = chapter('settings', {
  'settings are written by version, and read as they were written': async (world) => {
    const cluster = clusterOf(world)
    equal(await cluster.readSettings(), null, 'before')
    const first = { value: { dedupeForMs: 5000 }, version: 1, updatedBy: 'ada', updatedAt: world.env.wall() }
    deepEqual(await cluster.writeSettings({ ...first, version: 0 }), { outcome: 'done', settings: first }, 'the first answer')
    deepEqual(await cluster.readSettings(), first, 'the first settings')
    await world.env.advance(10)
    const second = { value: {}, version: 2, updatedBy: null, updatedAt: world.env.wall() }
    deepEqual(await cluster.writeSettings({ ...second, version: 1 }), { outcome: 'done', settings: second }, 'the second answer')
    deepEqual(await cluster.readSettings(), second, 'the second settings')
  },

  'settings of another version are left as they are': async (world) => {
    const cluster = clusterOf(world)
    await cluster.writeSettings({ value: { dedupeForMs: 5000 }, version: 0, updatedBy: null })
    const before = await cluster.readSettings()
    for (const version of [0, 2])
      deepEqual(await cluster.writeSettings({ value: {}, version, updatedBy: 'eve' }), { outcome: 'changed', version: 1 }, 'the answer')
    deepEqual(await cluster.readSettings(), before, 'the settings')
  },

  'how long a dedupe key is kept is a setting': async (world) => {
    const cluster = clusterOf(world)
    const send = () => cluster.putEvent({ id: world.env.id(), name: 'a', data: null, dedupeKey: 'k' })
    const { id } = await send()
    await cluster.deliverEvent({ epoch: await elect(world), eventId: id, runs: [] })
    await world.env.advance(5000)
    equal((await send()).outcome, 'known', 'by default')
    await cluster.writeSettings({ value: { dedupeForMs: 5001 }, version: 0, updatedBy: null })
    equal((await send()).outcome, 'known', 'a millisecond too early')
    equal(await cluster.forgetEvents(10), 0, 'removed too early')
    await world.env.advance(1)
    const again = await send()
    ok(again.outcome === 'stored' && again.id !== id, 'after it')
  },

  'how long a lease of the leader is, is a setting, whatever the process asks for': async (world) => {
    const cluster = clusterOf(world)
    await cluster.writeSettings({ value: { leaderLeaseMs: 5000 }, version: 0, updatedBy: null })
    deepEqual(await cluster.lead(candidate('a')), { epoch: 1, expiresInMs: 5000 }, 'elected')
    await world.env.advance(4000)
    deepEqual(await cluster.lead(candidate('a')), { epoch: 1, expiresInMs: 5000 }, 'renewed')
    await world.env.advance(4999)
    equal((await cluster.lead(candidate('b'))).epoch, null, 'a millisecond too early')
    await world.env.advance(1)
    equal((await cluster.lead(candidate('b'))).epoch, 2, 'after it')
  },

  'after how long a run gets another worker is a setting, whatever the leader asks for': async (world) => {
    const cluster = clusterOf(world)
    for (const [reassignAfterMs, othersMs] of [
      [5000, 30_000],
      [5000, 1000],
    ] as const) {
      const version = (await cluster.readSettings())?.version ?? 0
      await cluster.writeSettings({ value: { reassignAfterMs }, version, updatedBy: null })
      const { epoch, id } = await assignedRun(world)
      await cluster.switchWorker('worker a', 'detached')
      await world.env.advance(4999)
      deepEqual(await cluster.orphan({ epoch, reassignAfterMs: othersMs }), [], 'a millisecond too early')
      await world.env.advance(1)
      deepEqual(
        (await cluster.orphan({ epoch, reassignAfterMs: othersMs }))?.map((run) => run.id),
        [id],
        'after it',
      )
      await world.store.runs.cancel(id)
      await cluster.switchWorker('worker a', 'attached')
    }
  },
})
