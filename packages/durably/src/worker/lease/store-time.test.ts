import { describe, expect, test } from 'vitest'
import { systemEnv } from '../../model/env.ts'
import { StoreTime } from './store-time.ts'

const SAID = 1_000_000
const HOUR_MS = 3_600_000

/** What a process knows whose clocks show this now, if it asked when both showed 0. */
function known(answered: { mono: number; wall: number }, now = answered) {
  return new StoreTime({ ...systemEnv(), mono: () => now.mono, wall: () => now.wall }, SAID, { mono: 0, wall: 0 }, answered)
}

describe('StoreTime.isPast', () => {
  test('knows what is ahead and what is over while both clocks go on alike', () => {
    const time = known({ mono: 10, wall: 10 }, { mono: 5010, wall: 5010 })
    expect(time.isPast(SAID + 4000)).toBe(true)
    expect(time.isPast(SAID + 9000)).toBe(false)
  })

  test('does not know what is ahead after a long answer', () => {
    const time = known({ mono: 8000, wall: 8000 })
    expect(time.isPast(SAID + 4000)).toBe(undefined)
    expect(time.isPast(SAID + 9000)).toBe(false)
  })

  test('does not know what is ahead if a clock was set back before the answer came, and the machine may have slept', () => {
    const time = known({ mono: 10, wall: -HOUR_MS }, { mono: 60, wall: -HOUR_MS + 50 })
    expect(time.isPast(SAID + 9000)).toBe(undefined)
    expect(time.isPast(SAID + 40)).toBe(true)
  })
})
