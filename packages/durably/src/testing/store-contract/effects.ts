// The column of effects that have begun: opaque here, it changes with the writes that carry one, and only then.
import { deepEqual, equal } from '../assert.ts'
import { chapter } from './chapter.ts'
import { complete, get, heartbeat, held, leasesEnd, mustClaim, park, recordStep, send, unchanged } from './world.ts'

export const effectsChapter = chapter('effects', {
  'effects are attached to any write, and stay until another write replaces them': async (world) => {
    const owner = await held(world)
    await owner.succeed(heartbeat(), { effects: '["charge"]' })
    equal((await get(world, owner.run.id)).effects, '["charge"]', 'after a heartbeat')
    await owner.succeed(recordStep(owner, { name: 'other' }))
    equal((await get(world, owner.run.id)).effects, '["charge"]', 'after a write without')
    await owner.succeed(recordStep(owner, { name: 'charge', index: 1 }), { effects: '[]' })
    equal((await get(world, owner.run.id)).effects, '[]', 'after the step is recorded')
  },

  'effects are there for the next owner, however the last one ended': async (world) => {
    const owner = await held(world)
    await owner.succeed(heartbeat(), { effects: '["charge"]' })
    await leasesEnd(world)
    await world.store.runs.reap({ maxRecoveries: 10 })
    const next = await mustClaim(world)
    equal(next.run.effects, '["charge"]', 'after a crash')
    await next.succeed(park([{ name: 'decision', kind: 'signal', dueAt: world.env.wall() }]))
    equal((await mustClaim(world)).run.effects, '["charge"]', 'after a park')
  },

  'effects of a refused write, or of one sent again, are not kept': async (world) => {
    const owner = await held(world)
    const begun = owner.next(heartbeat(), { effects: '["charge"]' })
    await send(world, begun)
    await owner.succeed(heartbeat(), { effects: '[]' })
    await unchanged(world, owner.run.id, () => send(world, begun))
    await owner.succeed(complete())
    deepEqual(await unchanged(world, owner.run.id, () => owner.write(heartbeat(), { effects: '["late"]' })), { ok: false }, 'a late write')
  },
})
