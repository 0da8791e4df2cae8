import { expect, test } from 'vitest'
import { InHand, type Slot } from './active-executions.ts'
import type { Execution } from './execution.ts'

const execution = (id: string) => ({ run: { id } }) as Execution
const ids = (inHand: InHand) => inHand.executions().map(({ run }) => run.id)

test('what is let go is gone, wherever it stands, and the others stay', () => {
  for (const gone of [0, 1, 2, 3]) {
    const inHand = new InHand()
    const slots = ['a', 'b', 'c', 'd'].map((id) => inHand.add(execution(id)))
    inHand.remove(slots[gone] as Slot)
    inHand.add(execution('e'))
    const left = ['a', 'b', 'c', 'd', 'e'].filter((_, i) => i !== gone)
    expect(ids(inHand).sort()).toEqual(left)
    expect(inHand.size).toBe(4)
    for (const slot of slots.filter((_, i) => i !== gone)) inHand.remove(slot)
    expect(ids(inHand)).toEqual(['e'])
  }
})

test('the end of all that are in hand now is waited for, not of those that come later', async () => {
  const inHand = new InHand()
  const slot = inHand.add(execution('a'))
  slot.ended = Promise.resolve()
  const ended = inHand.ended()
  inHand.add(execution('b')).ended = new Promise(() => {})
  await ended
  expect(inHand.find(({ run }) => run.id === 'b')).toBeDefined()
  expect(inHand.find(({ run }) => run.id === 'c')).toBeUndefined()
})
