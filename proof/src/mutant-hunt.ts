// Takes out one guard after the other and lets the simulator look for it.
import { buildMutant, removeMutants } from './mutant-build.ts'
import { MUTANTS, type Mutant } from './mutants.ts'
import { simulateInPool } from './sim-pool.ts'

export const MUTANT_SEEDS_MAX = 2000

export interface Hunted {
  mutant: Mutant
  /** The first seed that shows it; `null` when none of them did. */
  seed: number | null
  /** The invariants that it broke there. */
  by: string[]
}

export async function huntMutants(onHunted: (hunted: Hunted) => void, only?: string): Promise<Hunted[]> {
  const results: Hunted[] = []
  try {
    for (const mutant of MUTANTS.filter(({ name }) => only === undefined || name === only)) {
      const hunted = await hunt(mutant)
      results.push(hunted)
      onHunted(hunted)
    }
  } finally {
    removeMutants()
  }
  return results
}

async function hunt(mutant: Mutant): Promise<Hunted> {
  const seeds = Array.from({ length: MUTANT_SEEDS_MAX }, (_, seed) => seed)
  const { failures } = await simulateInPool({ dist: buildMutant(mutant), store: 'memory', seeds, untilFailure: true })
  const [first] = failures
  return { mutant, seed: first?.seed ?? null, by: [...new Set(first?.violations.map(({ invariant }) => invariant))].sort() }
}
