import { expect, test } from 'vitest'
import { createDurably } from '../../durably.ts'
import { memoryStore } from '../../memory.ts'
import { virtualEnv } from '../virtual-env.ts'
import type { CallFault } from './fault-plan.ts'
import type { PlannedRun } from './planned-run.ts'
import { SimClient } from './sim-client.ts'
import { SimLedger } from './sim-ledger.ts'
import type { SimProcess } from './sim-process.ts'
import { defineWorkload } from './workload.ts'

const STEADY_JOBS = { attempts: 1, delayMs: 0, jitter: false, timeoutMs: undefined }
const NOTHING = {
  steps: [],
  spoiled: undefined,
  concurrencyKey: undefined,
  holdKey: false,
  labels: undefined,
  delayMs: undefined,
  deadlineMs: undefined,
  atMs: 100,
}
const KEYED: PlannedRun = { ...NOTHING, job: 'chain', idempotencyKey: 'key' }
const PLAIN: PlannedRun = { ...NOTHING, job: 'chain', idempotencyKey: undefined }

/** `faults`: by call. */
function clientOf(runs: PlannedRun[], faults: Record<string, CallFault>) {
  const base = virtualEnv({ isClosed: true })
  const store = memoryStore({ env: base })
  const ledger = new SimLedger()
  const dead: string[] = []
  const world = {
    ...{ seed: 1, base, store, leaseMs: 3000 },
    plan: { ofCall: (call: string) => faults[call] ?? null },
    onApplied: () => {},
    onDeath: ({ name }: SimProcess) => void dead.push(name),
  }
  const open = (process: SimProcess) => {
    const durably = createDurably({ store: process.store, env: process.env })
    return { durably, jobs: defineWorkload({ seed: 1, durably, process, ledger, steadyJobs: STEADY_JOBS }) }
  }
  return { base, store, ledger, dead, client: new SimClient({ world, ledger, open }, runs) }
}

test('what a client got no answer to before it died, the next one triggers again', async () => {
  const faults = { 'client.0#0 runs.create': 'crash after', 'client.1#0 runs.create': 'crash before' } as const
  const { base, store, ledger, dead, client } = clientOf([KEYED], faults)
  await base.advance(200)
  expect(dead).toEqual(['client.0'])
  expect(ledger.acknowledged).toEqual([])
  expect(client.isBusy).toBe(true)
  await base.advance(60_000)
  expect(dead).toEqual(['client.0', 'client.1'])
  const [run, ...others] = await store.runs.list({})
  expect(others).toEqual([])
  expect(ledger.acknowledged).toEqual([{ kind: 'triggered', runId: run?.id, jobName: 'chain', idempotencyKey: 'key', askedAt: 2 }])
  expect(client.isBusy).toBe(false)
})

test('a command whose process died before the answer is carried out, and not repeated', async () => {
  const { base, store, client } = clientOf([PLAIN], { 'client.0#1 runs.cancel': 'crash after' })
  await base.advance(1000)
  const [run] = await store.runs.list({})
  const cancels: string[] = []
  client.command((durably) => {
    cancels.push('asked')
    return durably.cancel(run?.id ?? '')
  })
  await base.advance(60_000)
  expect(await store.runs.list({ statuses: ['cancelled'] })).toHaveLength(1)
  expect(cancels).toEqual(['asked'])
  expect(client.isBusy).toBe(false)
})

test('a command that comes while nobody lives waits for the next process', async () => {
  const { base, store, client } = clientOf([PLAIN], { 'client.0#0 runs.create': 'crash after' })
  await base.advance(110)
  const [run] = await store.runs.list({})
  client.command((durably) => durably.cancel(run?.id ?? ''))
  expect(client.isBusy).toBe(true)
  expect((await store.runs.get(run?.id ?? ''))?.status).toBe('pending')
  await base.advance(60_000)
  expect((await store.runs.get(run?.id ?? ''))?.status).toBe('cancelled')
})
