import { expect, test } from 'vitest'
import { memoryStore } from '../../memory.ts'
import { DurablyError } from '../../model/errors.ts'
import { claimUpTo, create, heartbeat, type Owner } from '../store-contract/world.ts'
import { virtualEnv } from '../virtual-env.ts'
import { OwnerWatch } from './owner-watch.ts'
import { SimProcess } from './sim-process.ts'
import { withVerbs } from './with-verbs.ts'

const LEASE_MS = 3000
const SILENCE = new DurablyError('lease_lost', 'the store did not answer for a whole lease')

/** A process that holds three runs, and that has been awake for a while. Groups with a write of the first run are answered after a second. */
async function ownersOfThree() {
  const base = virtualEnv({ isClosed: true })
  const store = memoryStore({ env: base })
  const world = { seed: 1, base, store, plan: { ofCall: () => null }, leaseMs: LEASE_MS, onApplied: () => {}, onDeath: () => {} }
  const watch = new OwnerWatch(new SimProcess('w0.0', world), 0)
  let slowId = ''
  const runs = withVerbs(store.runs, {
    apply: async (writes) => {
      if (writes.some(({ claim }) => claim.runId === slowId)) await new Promise<void>((resolve) => base.timer(1000, resolve))
      return store.runs.apply(writes)
    },
  })
  const watched = { env: base, store: watch.over({ ...store, runs }) }
  for (let i = 0; i < 3; i++) await create(watched)
  await base.advance(10)
  const [slow, givenBack, waiting] = (await claimUpTo(3, watched, undefined, LEASE_MS)) as [Owner, Owner, Owner]
  slowId = slow.run.id
  const gaveUp = ({ claim }: Owner) =>
    watch.aborted({ runId: claim.runId, generation: claim.generation, startedAt: 0, endedAt: null }, SILENCE)
  return { base, watch, slow, givenBack, waiting, gaveUp }
}

test('a lease may count from when its write began to wait for a slow group, also if another was sent and answered meanwhile', async () => {
  const { base, watch, slow, givenBack, waiting, gaveUp } = await ownersOfThree()
  void slow.write(heartbeat())
  await base.advance(100)
  await givenBack.succeed({ type: 'release' })
  await base.advance(200)
  await waiting.succeed(heartbeat())
  await base.advance(LEASE_MS - 200)
  gaveUp(waiting)
  expect(watch.violations).toEqual([])
})

test('a lease counts from when its write was sent if there was nothing to wait for', async () => {
  const { base, watch, givenBack, waiting, gaveUp } = await ownersOfThree()
  await givenBack.succeed({ type: 'release' })
  await base.advance(200)
  await waiting.succeed(heartbeat())
  await base.advance(LEASE_MS - 200)
  gaveUp(waiting)
  expect(watch.violations).toMatchObject([{ invariant: 'I62', runId: waiting.run.id }])
})
