// Takes out one guard after the other and lets the simulator look for it.
import { availableParallelism } from 'node:os'
import { buildMutant, removeMutants } from './mutant-build.ts'
import { MUTANTS, type Mutant } from './mutants.ts'
import { inChild } from './sim-pool.ts'

export const MUTANT_SEEDS_MAX = 2000

export interface Hunted {
  mutant: Mutant
  /** The first seed that shows it; `null` when none of them did. */
  seed: number | null
  /** The invariants that it broke there. */
  by: string[]
}

/** One on each core. */
export async function huntMutants(onHunted: (hunted: Hunted) => void, only?: readonly string[]): Promise<Hunted[]> {
  const wanted = MUTANTS.filter(({ name }) => only === undefined || only.includes(name))
  const results = new Map<Mutant, Hunted>()
  const waiting = [...wanted]
  const work = async () => {
    for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
      const hunted = await hunt(mutant)
      results.set(mutant, hunted)
      onHunted(hunted)
    }
  }
  try {
    await Promise.all(Array.from({ length: availableParallelism() }, work))
  } finally {
    removeMutants()
  }
  return wanted.flatMap((mutant) => results.get(mutant) ?? [])
}

async function hunt(mutant: Mutant): Promise<Hunted> {
  const seeds = Array.from({ length: MUTANT_SEEDS_MAX }, (_, i) => (mutant.from ?? 0) + i)
  const { failures } = await inChild({ dist: buildMutant(mutant), store: mutant.store ?? 'memory', seeds, untilFailure: true })
  const [first] = failures
  return { mutant, seed: first?.seed ?? null, by: [...new Set(first?.violations.map(({ invariant }) => invariant))].sort() }
}
