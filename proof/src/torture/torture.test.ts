import { describe, expect, it } from 'vitest'
import { ENGINE_DIST } from '../engine-build.ts'
import { STORES, torture } from './torture.ts'
import { tortureUnfenced } from './unfenced.ts'

const SECONDS = 30
const WORKERS = 6
/** Starting, healing and judging, on a machine that is busy. */
const AROUND_MS_MAX = 150_000

/** Enough that silence means something, also where the machine is slow. */
const FAULTS_MIN = { sqlite: {}, postgres: { restarts: 2, cuts: 10, delays: 10, swallowed: 10, terminated: 5 } }

describe.each(STORES)('on %s', (store) => {
  it(
    `workers that are killed and frozen for ${SECONDS} s break no invariant`,
    async () => {
      const { figures, violations } = await torture({ store, dist: ENGINE_DIST, seconds: SECONDS, workers: WORKERS })
      expect(violations.slice(0, 10)).toEqual([])
      expect(figures.kills).toBeGreaterThan(20)
      expect(figures.pauses).toBeGreaterThan(10)
      expect(figures.reclaims).toBeGreaterThan(20)
      expect(figures.stepsExecutedMoreThanOnce).toBeGreaterThan(5)
      for (const [name, min] of Object.entries(FAULTS_MIN[store])) expect(figures.faults[name], name).toBeGreaterThanOrEqual(min)
    },
    SECONDS * 1000 + AROUND_MS_MAX,
  )

  it(
    `the same storm catches an engine without its fence within ${SECONDS} s`,
    async () => {
      const { violations } = await tortureUnfenced({ store, seconds: SECONDS, workers: WORKERS })
      expect(violations.length).toBeGreaterThan(0)
    },
    SECONDS * 1000 + AROUND_MS_MAX,
  )
})
