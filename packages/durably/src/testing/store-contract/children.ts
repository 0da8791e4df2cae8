// The parent is notified when a child ends, however it ends.
import { NEVER_MS } from '../../model/wait.ts'
import { deepEqual, equal } from '../assert.ts'
import { type Case, chapter, type World } from './chapter.ts'
import { CHILD, FOR_A_CHILD, family } from './family.ts'
import {
  abandon,
  claim,
  complete,
  fail,
  get,
  heartbeat,
  held,
  LEASE_MS,
  leasesEnd,
  logLine,
  mustClaim,
  type Owner,
  park,
  release,
  retryLater,
  send,
  unchanged,
} from './world.ts'

/** All ways in which a run can end. */
const ENDS: Record<string, (world: World, child: Owner) => Promise<unknown>> = {
  completed: (_, child) => child.succeed(complete()),
  failed: (_, child) => child.succeed(fail()),
  abandoned: (_, child) => child.succeed(abandon()),
  'cancelled while it was pending': async (world, child) => {
    await child.succeed(release())
    await world.store.runs.cancel(child.run.id)
  },
  'cancelled by the reaper': async (world, child) => {
    await world.store.runs.cancel(child.run.id)
    await reapTo(world, 'cancelled', child)
  },
  'failed by the reaper after its deadline': (world, child) => reapTo(world, 'failed', child),
}

async function reapTo(world: World, status: string, { run }: Owner): Promise<void> {
  await leasesEnd(world)
  await world.store.runs.reap({ maxRecoveries: 10 })
  equal((await get(world, run.id)).status, status, 'the end of the child')
}

const endings: Case[] = Object.entries(ENDS).flatMap(([how, end]) => [
  {
    name: `a run that is parked for a child is due when it is ${how}`,
    async run(world) {
      const { parent, child } = await family(world)
      await parent.succeed(FOR_A_CHILD)
      await world.env.advance(10)
      await end(world, child)
      const { run } = await mustClaim(world)
      deepEqual([run.id, run.runAt, run.signals], [parent.run.id, world.env.wall(), 1], 'the run that goes on')
    },
  },
  {
    name: `a run that wants to park does not when a child was ${how} meanwhile`,
    async run(world) {
      const { parent, child } = await family(world)
      await parent.succeed(heartbeat(10 * LEASE_MS))
      await end(world, child)
      const { signals, status } = await get(world, parent.run.id)
      deepEqual([signals, status], [1, 'running'], 'the parent')
      await parent.succeed(FOR_A_CHILD)
      equal((await mustClaim(world)).run.id, parent.run.id, 'claimed at once')
    },
  },
])

export const children = chapter(
  'children',
  {
    'a child that goes on wakes nobody': async (world) => {
      const { parent, child } = await family(world)
      await parent.succeed(FOR_A_CHILD)
      await child.succeed(heartbeat())
      await child.succeed(retryLater(world.env.wall()))
      const again = await mustClaim(world, [CHILD])
      await again.succeed(park([{ name: 'nap', kind: 'sleep', dueAt: world.env.wall() }]))
      await (await mustClaim(world, [CHILD])).succeed(release())
      equal(await claim(world), null, 'nothing to claim')
      equal((await get(world, parent.run.id)).signals, 0, 'signals')
    },

    'a run that is parked for something else gets the event of a child, but sleeps on': async (world) => {
      const { parent, child } = await family(world)
      await parent.succeed(park([{ name: 'child', kind: 'sleep', dueAt: NEVER_MS }]))
      await child.succeed(complete())
      equal(await claim(world), null, 'nothing to claim')
      equal((await get(world, parent.run.id)).signals, 1, 'signals')
    },

    'the end of a child that is written again is logged once in its parent': async (world) => {
      const { parent, child } = await family(world)
      await parent.succeed(FOR_A_CHILD)
      const end = child.next(complete())
      await send(world, end)
      await (await mustClaim(world)).succeed(park([{ name: 'other', kind: 'child', dueAt: null }], 1))
      await unchanged(world, parent.run.id, () => send(world, end))
      equal(await claim(world), null, 'nothing to claim')
    },

    'a refused end is not logged in the parent': async (world) => {
      const { parent, child } = await family(world)
      await child.succeed(release())
      await parent.succeed(FOR_A_CHILD)
      equal((await child.write(complete())).ok, false, 'the end by a former owner')
      equal((await get(world, parent.run.id)).signals, 0, 'signals')
    },

    'an end with log lines that are known, or with none, is logged in the parent all the same': async (world) => {
      const { parent, child } = await family(world)
      const line = logLine(world, child.run.id)
      await world.store.logs.append([line])
      await child.succeed(complete(), { logs: [line] })
      equal((await get(world, parent.run.id)).signals, 1, 'signals')
    },

    'a run that has ended gets no event of its children, and they end all the same': async (world) => {
      const { parent, child } = await family(world)
      await parent.succeed(complete())
      const fresh = logLine(world, child.run.id)
      await unchanged(world, parent.run.id, () => child.succeed(complete(), { logs: [fresh] }))
      deepEqual(await world.store.logs.list(child.run.id), [fresh], 'log lines of the child')
      await world.store.runs.delete(parent.run.id)
      const orphan = await held(world, { jobName: CHILD, parentRunId: parent.run.id })
      await orphan.succeed(complete())
    },

    'a run that parks and its child that ends in one call do not miss each other': async (world) => {
      for (const order of ['parent first', 'child first']) {
        const { parent, child } = await family(world)
        const writes = [parent.next(FOR_A_CHILD), child.next(complete())]
        const outcomes = await world.store.runs.apply(order === 'parent first' ? writes : writes.reverse())
        deepEqual(
          outcomes.map(({ ok }) => ok),
          [true, true],
          order,
        )
        const next = await mustClaim(world)
        deepEqual([next.run.id, next.run.signals], [parent.run.id, 1], order)
        await next.succeed(complete())
      }
    },

    'each end of several children in one call is logged in the parent, and nothing but the ends': async (world) => {
      const { parent, child } = await family(world)
      const others = [
        await held(world, { jobName: 'b', parentRunId: parent.run.id }),
        await held(world, { jobName: 'c', parentRunId: parent.run.id }),
      ]
      const [second, third] = others as [Owner, Owner]
      const stranger = await held(world, { jobName: 'd' })
      await world.store.runs.apply([child.next(complete()), second.next(heartbeat()), third.next(fail()), stranger.next(complete())])
      equal((await get(world, parent.run.id)).signals, 2, 'signals')
    },
  },
  endings,
)
