// The register of workers.
import { deepEqual, equal } from '../assert.ts'
import { chapter } from './chapter.ts'
import { clusterOf, WORKER_MS, workerEntry } from './cluster-world.ts'

export const workersChapter = chapter('workers', {
  'a worker enters the register, and is listed with what it said': async (world) => {
    const cluster = clusterOf(world)
    deepEqual(await cluster.workers(), [], 'before')
    const entry = workerEntry({ labels: '{"gpu":"yes"}', capacity: 7, version: 'v1' })
    equal(await cluster.attend(entry), 'attached', 'state')
    const now = world.env.wall()
    const { token: _, lastsMs, ...said } = entry
    const times = { attachedAt: now, heartbeatAt: now, expiresInMs: lastsMs }
    deepEqual(await cluster.workers(), [{ ...said, ...times, state: 'attached', assigned: 0, running: 0 }], 'the register')
  },

  'a renewal moves the end of the entry, and what it says may change': async (world) => {
    const cluster = clusterOf(world)
    await cluster.attend(workerEntry())
    const attachedAt = world.env.wall()
    await world.env.advance(5000)
    await cluster.attend(workerEntry({ capacity: 3 }))
    const [worker] = await cluster.workers()
    deepEqual([worker?.attachedAt, worker?.heartbeatAt, worker?.capacity], [attachedAt, attachedAt + 5000, 3], 'the entry')
    await world.env.advance(WORKER_MS)
    equal((await cluster.workers())[0]?.expiresInMs, 0, 'the end')
  },

  'a name belongs to one process until that is silent or detached': async (world) => {
    const cluster = clusterOf(world)
    const another = workerEntry({ token: 'process b' })
    await cluster.attend(workerEntry())
    equal(await cluster.attend(another), null, 'while the first is there')
    await world.env.advance(WORKER_MS)
    equal(await cluster.attend(another), 'attached', 'when the first is silent')
    equal(await cluster.attend(workerEntry()), null, 'the first, which comes back')
    await cluster.switchWorker(another.id, 'detached')
    equal(await cluster.attend(workerEntry()), 'attached', 'when the second is detached')
  },

  'a worker learns that it was switched, and may be attached again': async (world) => {
    const cluster = clusterOf(world)
    await cluster.attend(workerEntry())
    for (const state of ['draining', 'detached', 'attached'] as const) {
      equal(await cluster.switchWorker('worker a', state), true, `switched to ${state}`)
      equal(await cluster.attend(workerEntry()), state, 'what it learns')
    }
    equal(await cluster.switchWorker('nobody', 'detached'), false, 'one that is not there')
  },

  'a worker that ends leaves the register, but does not remove another process': async (world) => {
    const cluster = clusterOf(world)
    await cluster.attend(workerEntry())
    await cluster.leave(workerEntry({ token: 'process b' }))
    equal((await cluster.workers()).length, 1, 'workers')
    await cluster.leave(workerEntry())
    deepEqual(await cluster.workers(), [], 'then')
  },
})
