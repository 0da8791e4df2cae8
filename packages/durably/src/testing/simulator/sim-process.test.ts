import { expect, test } from 'vitest'
import { memoryStore } from '../../memory.ts'
import { virtualEnv } from '../virtual-env.ts'
import { SimProcess } from './sim-process.ts'

function processOf() {
  const virtual = virtualEnv({ isClosed: true })
  let timers = 0
  const base: typeof virtual = {
    ...virtual,
    timer: (ms, fn) => {
      timers++
      return virtual.timer(ms, fn)
    },
  }
  const plan = { ofCall: () => null }
  const world = { seed: 1, base, store: memoryStore({ env: base }), plan, leaseMs: 3000, onApplied: () => {}, onDeath: () => {} }
  return { base, process: new SimProcess('w0.0', world), timersMade: () => timers }
}

test('a timer counts on when its machine wakes, however often that sleeps', async () => {
  const { base, process } = processOf()
  const fired: string[] = []
  process.env.timer(1000, () => fired.push('set before'))
  await base.advance(400)
  process.suspend(5000)
  await base.advance(1000)
  process.env.timer(100, () => fired.push('set asleep'))
  await base.advance(4099)
  process.suspend(20)
  await base.advance(20)
  expect(fired).toEqual([])
  await base.advance(1)
  expect(fired).toEqual(['set asleep'])
  await base.advance(499)
  expect(fired).toEqual(['set asleep'])
  await base.advance(1)
  expect(fired).toEqual(['set asleep', 'set before'])
})

test('a sleep that becomes longer holds up its timers for all of it', async () => {
  const { base, process } = processOf()
  let firedAt: number | null = null
  process.env.timer(10, () => {
    firedAt = base.mono()
  })
  process.suspend(1000)
  await base.advance(500)
  process.suspend(1000)
  await base.advance(5000)
  expect(firedAt).toBe(1510)
})

test('a machine that sleeps for an hour does nothing for an hour', async () => {
  const { base, process, timersMade } = processOf()
  let hasFired = false
  process.env.timer(10, () => {
    hasFired = true
  })
  process.suspend(3_600_000)
  await base.advance(3_600_000)
  expect(hasFired).toBe(false)
  await base.advance(10)
  expect(hasFired).toBe(true)
  expect(timersMade()).toBeLessThan(5)
})

test('what falls due during a pause that becomes longer happens in its order', async () => {
  const { base, process } = processOf()
  const happened: string[] = []
  process.pause(1000)
  process.whenAwake(() => happened.push('first'))
  await base.advance(500)
  process.pause(1000)
  process.whenAwake(() => happened.push('second'))
  await base.advance(999)
  expect(happened).toEqual([])
  await base.advance(1)
  expect(happened).toEqual(['first', 'second'])
})
