// Simulates the seeds of a proof in slices, so that one that is interrupted goes on with the next slice.
import { addToCorpus, corpusSeeds, whyOf } from './corpus.ts'
import { ENGINE_DIST } from './engine-build.ts'
import type { Simulation } from './proof-page/simulation-section.ts'
import { freshRange } from './seed-range.ts'
import { simulateInPool } from './sim-pool.ts'
import { noFigures, type SimStore } from './sim-seeds.ts'

/** Each slice has new processes, which are slow at first. */
const SLICE = 20_000

/** `before`: what was simulated of the same source already. Each slice is passed to `onSlice` with all before it. */
export async function simulateSlices(
  store: SimStore,
  wanted: number,
  before: Simulation | undefined,
  onSlice: (simulation: Simulation) => void,
): Promise<Simulation> {
  const { from } = before ?? freshRange(store, wanted)
  let simulation = before ?? { store, from, fresh: 0, seeds: 0, worlds: 0, seconds: 0, faults: 0, broken: [], ...noFigures() }
  while (simulation.fresh < wanted) {
    const began = performance.now()
    const count = Math.min(SLICE, wanted - simulation.fresh)
    const first = from + simulation.fresh
    const fresh = Array.from({ length: count }, (_, i) => first + i)
    const seeds = simulation.fresh === 0 ? [...new Set([...corpusSeeds(store), ...fresh])] : fresh
    const { checked, worlds, figures, faults, failures } = await simulateInPool({ dist: ENGINE_DIST, store, seeds, untilFailure: false })
    for (const { seed, violations } of failures) addToCorpus(store, seed, whyOf(violations))
    simulation = {
      ...sumOf(simulation, figures),
      fresh: simulation.fresh + count,
      seeds: simulation.seeds + checked,
      worlds: simulation.worlds + worlds,
      seconds: simulation.seconds + Math.round((performance.now() - began) / 1000),
      faults: simulation.faults + faults,
      broken: [...simulation.broken, ...failures.map(({ seed }) => seed)],
    }
    onSlice(simulation)
  }
  return simulation
}

function sumOf(simulation: Simulation, figures: ReturnType<typeof noFigures>): Simulation {
  const sum = { ...simulation }
  for (const name of Object.keys(figures) as (keyof typeof figures)[]) sum[name] += figures[name]
  return sum
}
