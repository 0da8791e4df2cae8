// `npm run proof`: the long forms of all proofs, and docs/proof.md written from what they found.
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { addToCorpus, whyOf } from './corpus.ts'
import { ENGINE_DIST, REPO } from './engine-build.ts'
import { huntMutants } from './mutant-hunt.ts'
import { type ProofFigures, proofPage } from './proof-page.ts'
import { freshRange, seedsOf, tellRange } from './seed-range.ts'
import { simulateInPool } from './sim-pool.ts'
import type { SimStore } from './sim-seeds.ts'
import { type Tortured, torture } from './torture/torture.ts'
import { tortureUnfenced } from './torture/unfenced.ts'

const SEEDS: Record<SimStore, number> = { memory: 200_000, sqlite: 20_000 }
const TORTURE_SECONDS = 60

const simulations = [await simulateOn('memory'), await simulateOn('sqlite')]
const mutants = await huntMutants(({ mutant, seed, by }) =>
  console.log(`mutant ${mutant.name}: ${seed === null ? 'NOT CAUGHT' : `seed ${seed}, ${by.join(' ')}`}`),
)
const tortures = [await tortureOn('sqlite'), await tortureOn('postgres')]

const figures: ProofFigures = { cores: availableParallelism(), node: process.version, simulations, mutants, tortures }
writeFileSync(join(REPO, 'docs', 'proof.md'), proofPage(figures))
console.log('docs/proof.md is written')
const failed =
  simulations.some(({ violations }) => violations > 0) ||
  mutants.some(({ seed }) => seed === null) ||
  tortures.some(({ real, control }) => real.violations.length > 0 || control.violations.length === 0)
if (failed) process.exitCode = 1

async function simulateOn(store: SimStore): Promise<ProofFigures['simulations'][number]> {
  const began = performance.now()
  const range = freshRange(store, SEEDS[store])
  const seeds = seedsOf(store, range)
  const { checked, figures: seen, faults, failures } = await simulateInPool({ dist: ENGINE_DIST, store, seeds, untilFailure: false })
  for (const { seed, violations } of failures) addToCorpus(store, seed, whyOf(violations))
  const seconds = Math.round((performance.now() - began) / 1000)
  console.log(
    `simulation on ${store}: ${checked} seeds (${tellRange(range)}) in ${seconds} s, ${failures.length} with violations ${failures.map(({ seed }) => seed)}`,
  )
  return { store, seeds: checked, range: tellRange(range), seconds, faults, violations: failures.length, ...seen }
}

async function tortureOn(store: Tortured['store']): Promise<ProofFigures['tortures'][number]> {
  const real = await torture({ store, dist: ENGINE_DIST, seconds: TORTURE_SECONDS })
  console.log(`torture on ${store}: ${JSON.stringify(real.figures)}, ${real.violations.length} violations`)
  const control = await tortureUnfenced({ store, seconds: TORTURE_SECONDS })
  console.log(`its control: ${control.violations.length} violations`)
  return { real, control }
}
