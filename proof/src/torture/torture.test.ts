import { expect, it } from 'vitest'
import { ENGINE_DIST } from '../engine-build.ts'
import { torture } from './torture.ts'
import { tortureUnfenced } from './unfenced.ts'

const SECONDS = 30
const CONTROL_SECONDS_MAX = 15
const WORKERS = 6
/** Starting, healing and judging, on a machine that is busy. */
const AROUND_MS_MAX = 120_000

it(
  `workers that are killed and frozen for ${SECONDS} s break no invariant`,
  async () => {
    const { figures, violations } = await torture({ dist: ENGINE_DIST, seconds: SECONDS, workers: WORKERS })
    expect(violations.slice(0, 10)).toEqual([])
    // Enough that silence means something, also where the machine is slow.
    expect(figures.kills).toBeGreaterThan(20)
    expect(figures.pauses).toBeGreaterThan(10)
    expect(figures.reclaims).toBeGreaterThan(20)
    expect(figures.stepsExecutedMoreThanOnce).toBeGreaterThan(5)
  },
  SECONDS * 1000 + AROUND_MS_MAX,
)

it(
  `the same storm catches an engine without its fence within ${CONTROL_SECONDS_MAX} s`,
  async () => {
    const { violations } = await tortureUnfenced({ seconds: CONTROL_SECONDS_MAX, workers: WORKERS })
    expect(violations.length).toBeGreaterThan(0)
  },
  CONTROL_SECONDS_MAX * 1000 + AROUND_MS_MAX,
)
