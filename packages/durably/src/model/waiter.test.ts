import { expect, test } from 'vitest'
import { Waiter } from './waiter.ts'

test('a caller that waits goes on at the next wake-up, and an earlier one does not count', async () => {
  const waiter = new Waiter()
  let woken = 0
  waiter.wake()
  const waiting = waiter.wait().then(() => ++woken)
  await null
  expect(woken).toBe(0)
  waiter.wake()
  await waiting
  waiter.wake()
  expect(woken).toBe(1)
})
