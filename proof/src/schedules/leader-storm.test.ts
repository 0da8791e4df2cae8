// The short form, with two pauses; `npm run storm` has the long one.
import { expect, test } from 'vitest'
import { stormOn } from './storm-report.ts'

test.each(['postgres', 'sqlite'] as const)(
  'three processes on %s whose leader is suspended past its lease use each time of a schedule once, and execute each run once',
  { timeout: 240_000 },
  async (store) => {
    const { faults } = await stormOn(store, { pauses: 2, kills: false, workers: 3 })
    expect(faults).toEqual([])
  },
)
