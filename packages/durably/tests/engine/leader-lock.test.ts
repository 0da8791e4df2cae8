// The lock of the leading tab, with tabs that are frozen.
import { expect, test } from 'vitest'
import { memoryStore } from '../../src/memory.ts'
import { LeaderLock } from '../../src/store/leader-lock.ts'
import { SimProcess } from '../../src/testing/simulator/sim-process.ts'
import { SimTabs } from '../../src/testing/simulator/sim-tabs.ts'
import { virtualEnv } from '../../src/testing/virtual-env.ts'

const LEASE_MS = 1000

async function leaderAndWaiting() {
  const base = virtualEnv({ isClosed: true })
  const thefts: string[] = []
  const tabs = new SimTabs({ granted: () => {}, lost: () => {}, stolen: ({ process }) => thefts.push(process.name) })
  const store = memoryStore({ env: base })
  const open = async (name: string) => {
    const world = { seed: 0, base, store, plan: { ofCall: () => null }, leaseMs: LEASE_MS, onApplied: () => {}, onDeath: () => {} }
    const process = new SimProcess(name, world)
    const lock = new LeaderLock({ env: process.env, leaseMs: LEASE_MS, name: 'lead', page: tabs.pageOf(process) })
    void lock.take(new AbortController().signal)
    await base.advance(5)
    return process
  }
  return { base, thefts, leader: await open('leader'), waiting: await open('waiting') }
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

test('a frozen leader loses the lead also to a tab that was frozen for long before', async () => {
  const { base, thefts, leader, waiting } = await leaderAndWaiting()
  waiting.pause(5 * LEASE_MS)
  await base.advance(5 * LEASE_MS)
  leader.pause(10 * LEASE_MS)
  await base.advance(3 * LEASE_MS)
  expect(thefts).toEqual(['leader'])
})
