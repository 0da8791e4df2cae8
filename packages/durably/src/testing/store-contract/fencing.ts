// The fence: only the owner of a run writes to it (I6). Every verb is tried by every kind of process that is not the owner.
import type { OwnerWrite } from '../../store/owner-write.ts'
import { deepEqual, equal } from '../assert.ts'
import { type Case, chapter, type World } from './chapter.ts'
import {
  ACCEPTED,
  attachmentsOf,
  complete,
  create,
  fail,
  heartbeat,
  held,
  leasesEnd,
  mustClaim,
  NO_ATTACHMENTS,
  OWNER_VERB_NAMES,
  OWNER_VERBS,
  type Owner,
  REFUSED,
  recordStep,
  release,
  send,
  unchanged,
} from './world.ts'

/** Processes that are not the owner (any more); each has written twice before, where it could. */
const OUTSIDERS: Record<string, (world: World) => Promise<Outsider>> = {
  'an owner whose run was taken back': async (world) => {
    const owner = await busyOwner(world)
    await leasesEnd(world)
    await world.store.runs.reap({ maxRecoveries: 10 })
    return asItself(owner)
  },
  'an owner whose run was taken back and claimed by another': async (world) => {
    const owner = await busyOwner(world)
    await leasesEnd(world)
    await world.store.runs.reap({ maxRecoveries: 10 })
    await mustClaim(world)
    return asItself(owner)
  },
  'an owner who released the run': async (world) => {
    const owner = await busyOwner(world)
    await owner.succeed(release())
    return asItself(owner)
  },
  'an owner whose released run was claimed and given back by another': async (world) => {
    const owner = await busyOwner(world)
    await owner.succeed(release())
    await (await mustClaim(world)).succeed(release())
    return asItself(owner)
  },
  'an owner whose run was failed by the reaper': async (world) => {
    const owner = await busyOwner(world)
    await leasesEnd(world)
    await world.store.runs.reap({ maxRecoveries: 0 })
    return asItself(owner)
  },
  'an owner whose failed run was retried': async (world) => {
    const owner = await busyOwner(world)
    await owner.succeed(fail())
    await world.store.runs.retry(owner.run.id)
    return asItself(owner)
  },
  'an owner who already completed the run': async (world) => {
    const owner = await busyOwner(world)
    await owner.succeed(complete())
    return asItself(owner)
  },
  'someone with the generation but another token': async (world) => {
    const owner = await busyOwner(world)
    return { owner, disguise: (write) => ({ ...write, claim: { ...write.claim, token: 'another worker' } }) }
  },
  'someone with another token and a number that was used': async (world) => {
    const owner = await busyOwner(world)
    return { owner, disguise: (write) => ({ ...write, number: 1, claim: { ...write.claim, token: 'another worker' } }) }
  },
  'someone with the token but an older generation': async (world) => {
    const owner = await busyOwner(world)
    return { owner, disguise: (write) => ({ ...write, claim: { ...write.claim, generation: write.claim.generation - 1 } }) }
  },
  'someone with the token but an older generation and a number that was used': async (world) => {
    const owner = await busyOwner(world)
    return { owner, disguise: (write) => ({ ...write, number: 1, claim: { ...write.claim, generation: write.claim.generation - 1 } }) }
  },
  'someone with the token but a later generation': async (world) => {
    const owner = await busyOwner(world)
    return { owner, disguise: (write) => ({ ...write, claim: { ...write.claim, generation: write.claim.generation + 1 } }) }
  },
  'an owner of an earlier lease who sends a used number again': async (world) => {
    const owner = await busyOwner(world)
    await owner.succeed(release())
    const next = await mustClaim(world)
    for (let i = 0; i < 3; i++) await next.succeed(heartbeat())
    return { owner, disguise: (write) => ({ ...write, number: 1 }) }
  },
  'an owner of an earlier lease who sends a used number of a finished run': async (world) => {
    const owner = await busyOwner(world)
    await owner.succeed(release())
    const next = await mustClaim(world)
    for (let i = 0; i < 3; i++) await next.succeed(heartbeat())
    await next.succeed(complete())
    return { owner, disguise: (write) => ({ ...write, number: 1 }) }
  },
  'an owner whose run was deleted': async (world) => {
    const owner = await busyOwner(world)
    await owner.succeed(complete())
    await world.store.runs.delete(owner.run.id)
    return asItself(owner)
  },
}

interface Outsider {
  owner: Owner
  disguise(write: OwnerWrite): OwnerWrite
}

const asItself = (owner: Owner): Outsider => ({ owner, disguise: (write) => write })

/** The run is on its second lease, so that there is an older generation to come from. */
async function busyOwner(world: World): Promise<Owner> {
  const first = await held(world)
  await first.succeed(heartbeat())
  await first.succeed(release())
  const owner = await mustClaim(world)
  await owner.succeed(recordStep(owner), attachmentsOf(owner))
  await owner.succeed(heartbeat())
  return owner
}

const refusals: Case[] = Object.entries(OUTSIDERS).map(([who, setup]) => ({
  name: `${who} can write nothing, and reads no steps`,
  async run(world) {
    const { owner, disguise } = await setup(world)
    for (const verb of OWNER_VERB_NAMES) {
      const write = disguise(owner.next(OWNER_VERBS[verb](owner), attachmentsOf(owner)))
      deepEqual(await unchanged(world, owner.run.id, () => send(world, write)), REFUSED, verb)
      equal(await world.store.steps.listOwned(write.claim), null, 'steps')
    }
  },
}))

export const fencing = chapter(
  'fencing',
  {
    'nobody can write to a run that was never claimed': async (world) => {
      const run = await create(world)
      const claim = { runId: run.id, generation: 0, token: '' }
      const write = { claim, number: 1, verb: complete(), ...NO_ATTACHMENTS }
      deepEqual(await unchanged(world, run.id, () => send(world, write)), REFUSED, 'outcome')
    },

    'nobody can write to a run that does not exist': async (world) => {
      const claim = { runId: world.env.id(), generation: 1, token: 'token' }
      const write = { claim, number: 1, verb: complete(), ...NO_ATTACHMENTS }
      deepEqual(await send(world, write), REFUSED, 'outcome')
      deepEqual(await world.store.runs.list({}), [], 'runs')
    },

    'an owner whose lease is over but was not taken back may still write': async (world) => {
      const owner = await held(world)
      await leasesEnd(world)
      deepEqual(await owner.write(recordStep(owner)), ACCEPTED, 'a step')
      deepEqual(await world.store.runs.reap({ maxRecoveries: 10 }), [], 'the lease was renewed')
      await leasesEnd(world)
      deepEqual(await owner.write(complete()), ACCEPTED, 'the end')
    },

    'the owner reads the steps of its run': async (world) => {
      const first = await held(world)
      deepEqual(await world.store.steps.listOwned(first.claim), [], 'of a new run')
      for (const name of ['b', 'a']) await first.succeed(recordStep(first, { name }))
      await first.succeed(release())
      const owner = await mustClaim(world)
      const steps = await world.store.steps.listOwned(owner.claim)
      equal(steps?.length, 2, 'how many')
      deepEqual(steps, await world.store.steps.list(owner.run.id), 'as everybody reads them')
    },

    'the write of a stale owner does not disturb the new owner': async (world) => {
      const stale = await held(world)
      await leasesEnd(world)
      await world.store.runs.reap({ maxRecoveries: 10 })
      const owner = await mustClaim(world)
      await stale.write(heartbeat())
      await stale.write(recordStep(stale))
      deepEqual(await owner.write(recordStep(owner)), ACCEPTED, 'the same step by the owner')
      await stale.write(fail())
      deepEqual(await owner.write(complete()), ACCEPTED, 'the end by the owner')
      equal((await world.store.runs.get(owner.run.id))?.status, 'completed', 'status')
    },
  },
  refusals,
)
