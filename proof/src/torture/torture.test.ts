import { describe, expect, it } from 'vitest'
import { ENGINE_DIST } from '../engine-build.ts'
import { controlNamed, controlsOf, tortureControl } from './controls.ts'
import { FAULTS } from './faults.ts'
import { torture } from './torture.ts'
import { STORES } from './workloads.ts'

const SECONDS = 30
const WORKERS = 6
/** Without fan-outs, whose many children take longer than all else together. */
const FAULTS_OUTSIDE = FAULTS.filter((fault) => fault !== 'fan-out')
const OUTSIDE = { workload: 'outside', seconds: 15, workers: 4 } as const
/** Starting, healing and judging, on a machine that is busy. */
const AROUND_MS_MAX = 200_000

/** Enough that silence means something, also where the machine is slow. */
const FAULTS_MIN = { sqlite: {}, postgres: { restarts: 2, cuts: 10, delays: 10, swallowed: 10, terminated: 5 } }

describe.each(STORES)('on %s', (store) => {
  it(
    `workers that are killed and frozen for ${SECONDS} s break no invariant`,
    async () => {
      const { figures, violations } = await torture({ store, workload: 'inside', dist: ENGINE_DIST, seconds: SECONDS, workers: WORKERS })
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
      const { violations } = await tortureControl(controlsOf('inside')[0], {
        store,
        workload: 'inside',
        seconds: SECONDS,
        workers: WORKERS,
      })
      expect(violations.length).toBeGreaterThan(0)
    },
    SECONDS * 1000 + AROUND_MS_MAX,
  )

  it(
    `an outsider who uses all of the public API for ${OUTSIDE.seconds} s sees no promise broken`,
    async () => {
      const { figures, violations, evidence } = await torture({ store, ...OUTSIDE, faults: FAULTS_OUTSIDE, dist: ENGINE_DIST })
      expect(violations.slice(0, 10), `what happened is in ${evidence}`).toEqual([])
      expect(figures.kills).toBeGreaterThan(0)
      expect(figures.stops).toBeGreaterThan(0)
      expect(figures.pauses).toBeGreaterThan(0)
      expect(figures.endings.completed).toBeGreaterThan(0)
    },
    OUTSIDE.seconds * 1000 + AROUND_MS_MAX,
  )

  it(
    'an outsider notices when recorded steps run again',
    async () => {
      const { violations } = await tortureControl(controlNamed('outside', 'recorded-runs-again'), { store, ...OUTSIDE })
      expect(violations.map(({ invariant }) => invariant)).toContain('I2c')
    },
    OUTSIDE.seconds * 1000 + AROUND_MS_MAX,
  )
})
