import { expect, test } from 'vitest'
import { createDurably } from '../../durably.ts'
import { memoryStore } from '../../memory.ts'
import { decisionName } from '../../model/decision-name.ts'
import type { RunRow } from '../../model/run.ts'
import { virtualEnv } from '../virtual-env.ts'
import { Outsiders } from './outsiders.ts'
import { SimProcess } from './sim-process.ts'

test('a run that is sent back by hand, and in doubt again, is decided about again', async () => {
  const base = virtualEnv({ isClosed: true })
  const store = memoryStore({ env: base })
  const decided: string[] = []
  const onApplied = (_: string, verb: string) => void decided.push(verb)
  const process = new SimProcess('outside', {
    seed: 1,
    base,
    store,
    plan: { ofCall: () => null },
    leaseMs: 3000,
    onApplied,
    onDeath: () => {},
  })
  const outsiders = new Outsiders({ seed: 1, process, durably: createDurably({ store: process.store, env: process.env }), store })
  const waitingFor = JSON.stringify([{ name: decisionName('pay', 1), kind: 'signal', dueAt: null }])
  const inDoubt = { id: 'r', status: 'pending', waitingFor, payload: '{"steps":[]}' } as RunRow

  outsiders.see([inDoubt])
  outsiders.see([inDoubt])
  await base.advance(20_000)
  const once = decided.length
  expect(once).toBeGreaterThan(0)

  outsiders.see([{ ...inDoubt, status: 'failed', waitingFor: null }])
  outsiders.see([inDoubt])
  await base.advance(20_000)
  expect(decided).toHaveLength(once * 2)
})
