// Removes one guard after the other, and lets the simulator find each.
import { availableParallelism } from 'node:os'
import { firstSeeds, recordFirstSeeds } from './first-seeds.ts'
import { buildMutant } from './mutant-build.ts'
import { MUTANTS } from './mutants/index.ts'
import type { Mutant } from './mutants/mutant.ts'
import { SimulatingProcess } from './sim-pool.ts'

export const MUTANT_SEEDS_MAX = 2000

export interface HuntOptions {
  /** Their names; all of them unless given. */
  only?: readonly string[] | undefined
  /** Begin with the seed that showed it the last time. Else that comes last, the first one that shows it is looked for, and recorded. */
  fromKnownSeeds?: boolean
}

export interface Hunted {
  mutant: Mutant
  /** The seed that shows it; `null` when none of them did. */
  seed: number | null
  /** The invariants that it broke there. */
  by: string[]
}

/** One on each core. */
export async function huntMutants(onHunted: (hunted: Hunted) => void, options: HuntOptions = {}): Promise<Hunted[]> {
  const { only, fromKnownSeeds = false } = options
  const recorded = firstSeeds()
  const seedsFor = ({ name }: Mutant) => {
    const range = Array.from({ length: MUTANT_SEEDS_MAX }, (_, seed) => seed)
    const known = recorded[name] ?? 0
    return [...new Set(fromKnownSeeds ? [known, ...range] : [...range, known])]
  }
  const wanted = MUTANTS.filter(({ name }) => only === undefined || only.includes(name))
  const results = new Map<Mutant, Hunted>()
  const waiting = [...wanted]
  const work = async () => {
    for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
      const hunted = await hunt(mutant, seedsFor(mutant))
      results.set(mutant, hunted)
      onHunted(hunted)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  const hunted = wanted.flatMap((mutant) => results.get(mutant) ?? [])
  if (!fromKnownSeeds) recordFirstSeeds(new Map(hunted.flatMap(({ mutant, seed }) => (seed === null ? [] : [[mutant.name, seed]]))))
  return hunted
}

async function hunt(mutant: Mutant, seeds: number[]): Promise<Hunted> {
  const { dist, remove } = await buildMutant(mutant)
  // Each has a process of its own, because a process can load one engine only.
  const simulator = new SimulatingProcess()
  try {
    const { failures } = await simulator.simulate({ dist, store: mutant.store ?? 'memory', seeds, untilFailure: true })
    const [first] = failures
    return { mutant, seed: first?.seed ?? null, by: [...new Set(first?.violations.map(({ invariant }) => invariant))].sort() }
  } finally {
    simulator.end()
    remove()
  }
}
