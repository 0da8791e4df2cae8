import { expect, test } from 'vitest'
import { memoryStore } from '../../memory.ts'
import { heartbeat, held, LEASE_MS } from '../store-contract/world.ts'
import { virtualEnv } from '../virtual-env.ts'
import { ClaimedRuns } from './claimed-runs.ts'
import { MachineClock } from './machine-clock.ts'
import { withVerbs } from './with-verbs.ts'

const SLEPT_MS = 5000
const JUMP_MS = 600_000

/** A process that has claimed a run, and whose machine has slept since, so that it asks the store for its time. */
async function ownerThatSlept() {
  const base = virtualEnv({ isClosed: true })
  let jumpedMs = 0
  const storeMs = () => base.wall() + jumpedMs
  const clock = new MachineClock(1, 'w0', base)
  const claims = new ClaimedRuns({ base, clock, storeMs, leaseMs: LEASE_MS })
  const store = memoryStore({ env: { ...base, wall: storeMs } })
  let isCutOff = false
  const runs = withVerbs(store.runs, { apply: (writes) => (isCutOff ? Promise.reject(new Error('lost')) : store.runs.apply(writes)) })
  const owner = await held({ env: base, store: { ...store, runs: claims.rememberedFrom(runs) } })
  clock.sleep(SLEPT_MS)
  await base.advance(SLEPT_MS)
  return {
    base,
    storeMs,
    begin: () => claims.beginning(owner.run.id),
    askForTime: async () => {
      await owner.succeed(heartbeat())
      await base.advance(20)
      await owner.world.store.runs.get(owner.run.id)
    },
    /** The same, but before the answer comes it sends another write, which does not reach the store. */
    askForTimeAndWrite: async (answerMs: number) => {
      await owner.succeed(heartbeat())
      await base.advance(answerMs)
      isCutOff = true
      await owner.succeed(heartbeat()).catch(() => undefined)
      await owner.world.store.runs.get(owner.run.id)
    },
    setStoreClockBy: (ms: number) => {
      jumpedMs += ms
    },
  }
}

test('a duration counts from its call if the store is not asked', async () => {
  const { base, storeMs, begin, setStoreClockBy } = await ownerThatSlept()
  const called = storeMs()
  const beginning = begin()
  await base.advance(100)
  setStoreClockBy(-JUMP_MS)
  expect(beginning.earliest).toBe(called)
})

test('a duration may count from what the store answers after its clock was set back', async () => {
  const { storeMs, begin, askForTime, setStoreClockBy } = await ownerThatSlept()
  const beginning = begin()
  setStoreClockBy(-JUMP_MS)
  await askForTime()
  expect(beginning.earliest).toBe(storeMs())
})

test('a duration may count from what the store answers after its clock was set forward', async () => {
  const { storeMs, begin, askForTime, setStoreClockBy } = await ownerThatSlept()
  const called = storeMs()
  const beginning = begin()
  setStoreClockBy(JUMP_MS)
  await askForTime()
  expect(beginning.earliest).toBe(called)
  expect(beginning.latest).toBeGreaterThanOrEqual(storeMs())
})

test('an owner goes by the last answer of the store, also when its clock jumps after that', async () => {
  const { storeMs, begin, askForTime, setStoreClockBy } = await ownerThatSlept()
  setStoreClockBy(-JUMP_MS)
  await askForTime()
  const answered = storeMs()
  setStoreClockBy(JUMP_MS)
  expect(begin().earliest).toBe(answered)
})

test('the time of an answer counts from the write that the store has accepted, not from one that was sent after it', async () => {
  const { storeMs, begin, askForTimeAndWrite } = await ownerThatSlept()
  await askForTimeAndWrite(60_000)
  expect(begin().earliest).toBe(storeMs())
})
