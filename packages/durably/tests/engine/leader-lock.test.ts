// The lock of the leading tab, with tabs that are frozen.
import { expect, test } from 'vitest'
import { memoryStore } from '../../src/memory.ts'
import { LeaderLock } from '../../src/store/leader-lock.ts'
import type { Term } from '../../src/store/leadership.ts'
import { SimProcess } from '../../src/testing/simulator/sim-process.ts'
import { SimTabs } from '../../src/testing/simulator/sim-tabs.ts'
import { virtualEnv } from '../../src/testing/virtual-env.ts'

const LEASE_MS = 1000

/** `probeMs`: how long the question takes whether the database can be reached. */
async function leaderAndWaiting({ probeMs = 0 } = {}) {
  const base = virtualEnv({ isClosed: true })
  const thefts: string[] = []
  const tabs = new SimTabs({ granted: () => {}, lost: () => {}, stolen: ({ process }) => thefts.push(process.name) })
  const store = memoryStore({ env: base })
  const open = async (name: string) => {
    const world = { seed: 0, base, store, plan: { ofCall: () => null }, leaseMs: LEASE_MS, onApplied: () => {}, onDeath: () => {} }
    const process = new SimProcess(name, world)
    const { env } = process
    const isReachable = () => new Promise<boolean>((answer) => env.timer(probeMs, () => answer(true)))
    const page = tabs.pageOf(process)
    const lock = new LeaderLock({ env, leaseMs: LEASE_MS, name: 'lead', page, ...(probeMs > 0 && { isReachable }) })
    const tab = { process, term: null as Term | null }
    void lock.take(new AbortController().signal).then((term) => {
      tab.term = term
    })
    await base.advance(5)
    return tab
  }
  const die = ({ process }: { process: SimProcess }) => {
    process.kill()
    tabs.died(process)
  }
  const { process: leader } = await open('leader')
  const { process: waiting } = await open('waiting')
  return { base, thefts, leader, waiting, open, die }
}

test('a leader that is frozen for more than two leases loses the lead', async () => {
  const { base, thefts, leader } = await leaderAndWaiting()
  leader.pause(10 * LEASE_MS)
  await base.advance(2 * LEASE_MS)
  expect(thefts).toEqual([])
  await base.advance(LEASE_MS)
  expect(thefts).toEqual(['leader'])
})

test('a tab that was frozen itself does not take the heartbeats that it has not got yet for silence', async () => {
  const { base, thefts, leader, waiting } = await leaderAndWaiting()
  leader.pause(1.6 * LEASE_MS)
  await base.advance(1.7 * LEASE_MS)
  // The next look of the waiting tab and then the heartbeats fall due while it is frozen, and come in this order when it wakes.
  waiting.pause(0.6 * LEASE_MS)
  await base.advance(5 * LEASE_MS)
  expect(thefts).toEqual([])
})

test('a tab that was frozen for less than half a lease looks twice: the leader may have woken meanwhile', async () => {
  const { base, thefts, leader, waiting } = await leaderAndWaiting()
  leader.pause(2.26 * LEASE_MS)
  await base.advance(2.24 * LEASE_MS)
  // Its look falls due, and then the heartbeat of the leader.
  waiting.pause(0.15 * LEASE_MS)
  await base.advance(5 * LEASE_MS)
  expect(thefts).toEqual([])
})

test('a tab that saw the leader silent and was then frozen hears the next leader before it steals the lead', async () => {
  const { base, thefts, leader, waiting, open } = await leaderAndWaiting()
  await open('next')
  leader.pause(10 * LEASE_MS)
  // The waiting tab has seen the leader silent once, and is frozen when the next leader begins.
  await base.advance(2.3 * LEASE_MS)
  waiting.pause(0.7 * LEASE_MS)
  await base.advance(5 * LEASE_MS)
  expect(thefts).toEqual(['leader'])
})

test('a tab that was frozen while it asked for the database hears the next leader before it steals the lead', async () => {
  const { base, thefts, leader, waiting, open } = await leaderAndWaiting({ probeMs: 50 })
  await open('next')
  leader.pause(10 * LEASE_MS)
  // It has seen the leader silent once, and asks again.
  await base.advance(2.37 * LEASE_MS)
  waiting.pause(0.7 * LEASE_MS)
  await base.advance(5 * LEASE_MS)
  expect(thefts).toEqual(['leader'])
})

test('a frozen leader loses the lead also to a tab that was frozen for long before', async () => {
  const { base, thefts, leader, waiting } = await leaderAndWaiting()
  waiting.pause(5 * LEASE_MS)
  await base.advance(5 * LEASE_MS)
  leader.pause(10 * LEASE_MS)
  await base.advance(3 * LEASE_MS)
  expect(thefts).toEqual(['leader'])
})

test('the leader after a thief that died does not inherit while the tab from which the lead was stolen may execute', async () => {
  const { base, leader, waiting, open, die, thefts } = await leaderAndWaiting()
  leader.pause(10 * LEASE_MS)
  await base.advance(3 * LEASE_MS)
  expect(thefts).toEqual(['leader'])
  die({ process: waiting })
  const next = await open('next')
  expect(next.term).toMatchObject({ inherits: false })
  // The frozen tab wakes, learns of the theft, and a lease later nothing of it is left.
  await base.advance(9 * LEASE_MS)
  die(next)
  expect((await open('last')).term).toMatchObject({ inherits: true })
})

test('the leader after one that died inherits', async () => {
  const { base, leader, waiting, open, die } = await leaderAndWaiting()
  die({ process: waiting })
  die({ process: leader })
  await base.advance(5)
  expect((await open('next')).term).toMatchObject({ inherits: true })
})
