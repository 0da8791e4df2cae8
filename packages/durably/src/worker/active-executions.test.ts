import { expect, test } from 'vitest'
import { ActiveExecutions, type Slot } from './active-executions.ts'
import type { Execution } from './execution.ts'

const execution = (id: string) => ({ run: { id } }) as Execution
const ids = (active: ActiveExecutions) => active.executions().map(({ run }) => run.id)

test('what is let go is gone, wherever it stands, and the others stay', () => {
  for (const gone of [0, 1, 2, 3]) {
    const active = new ActiveExecutions()
    const slots = ['a', 'b', 'c', 'd'].map((id) => active.add(execution(id)))
    active.remove(slots[gone] as Slot)
    active.add(execution('e'))
    const left = ['a', 'b', 'c', 'd', 'e'].filter((_, i) => i !== gone)
    expect(ids(active).sort()).toEqual(left)
    expect(active.size).toBe(4)
    for (const slot of slots.filter((_, i) => i !== gone)) active.remove(slot)
    expect(ids(active)).toEqual(['e'])
  }
})

test('the end of all active executions is waited for, not of those that come later', async () => {
  const active = new ActiveExecutions()
  const slot = active.add(execution('a'))
  slot.ended = Promise.resolve()
  const ended = active.ended()
  active.add(execution('b')).ended = new Promise(() => {})
  await ended
  expect(active.find(({ run }) => run.id === 'b')).toBeDefined()
  expect(active.find(({ run }) => run.id === 'c')).toBeUndefined()
})
