// Simulates many seeds in one process and sums up what was seen.
import type { SimFigures } from '../../packages/durably/dist/testing/simulator/judge.js'
import type { Simulated, SimulateOptions } from '../../packages/durably/dist/testing/simulator/simulate.js'
import { type Engine, loadEngine } from './engine-build.ts'
import { unheardRejections } from './unheard-rejections.ts'

export const SIM_STORES = ['memory', 'sqlite'] as const
export type SimStore = (typeof SIM_STORES)[number]

export interface SeedsTask {
  dist: string
  store: SimStore
  seeds: number[]
  /** Stop at the first failing seed. */
  untilFailure: boolean
}

export interface SeedsResult {
  checked: number
  failures: Pick<Simulated, 'seed' | 'violations' | 'faults'>[]
  figures: SimFigures
  faults: number
}

export async function simulateSeeds({ dist, store, seeds, untilFailure }: SeedsTask): Promise<SeedsResult> {
  const engine = await loadEngine(dist)
  const options = storeOptions(engine, store)
  const result: SeedsResult = {
    checked: 0,
    failures: [],
    faults: 0,
    figures: noFigures(),
  }
  for (const seed of seeds) {
    const { violations, faults, figures } = await engine.simulate({ seed, ...options })
    result.checked++
    result.faults += faults.length
    for (const name of Object.keys(figures) as (keyof SimFigures)[]) result.figures[name] += figures[name]
    if (violations.length === 0) continue
    result.failures.push({ seed, violations, faults })
    if (untilFailure) break
  }
  return result
}

export function storeOptions(engine: Engine, store: SimStore): Pick<SimulateOptions, 'openStore' | 'seenBeside'> {
  const seenBeside = unheardRejections()
  return store === 'memory' ? { seenBeside } : { openStore: engine.sqlWorlds(() => engine.sqlite(':memory:')), seenBeside }
}

export function noFigures(): SimFigures {
  const work = { runs: 0, steps: 0, executions: 0, streams: 0 }
  const writes = { commits: 0, groups: 0, claims: 0, batches: 0 }
  const again = { retries: 0, tries: 0, timeouts: 0, doubts: 0 }
  const waits = { sleeps: 0, signals: 0, waitsOver: 0, children: 0 }
  const rare = { races: 0, crowds: 0, later: 0, misfits: 0, misfitsOnce: 0, spoiled: 0, late: 0, refused: 0 }
  return {
    ...work,
    ...rare,
    ...writes,
    ...again,
    ...waits,
    transactions: 0,
    cuts: 0,
    purged: 0,
    deleted: 0,
    families: 0,
    suspends: 0,
    terms: 0,
    thefts: 0,
    scheduled: 0,
    elections: 0,
    refusals: 0,
    events: 0,
    eventRefusals: 0,
    silences: 0,
    returns: 0,
    assigned: 0,
    orphaned: 0,
    deposed: 0,
    archived: 0,
    recorded: 0,
    kills: 0,
    simulatedMs: 0,
  }
}
