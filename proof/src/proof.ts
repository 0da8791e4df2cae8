// `npm run proof`: the long forms of all proofs, and docs/proof.md written from what they found.
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { addToCorpus, whyOf } from './corpus.ts'
import { ENGINE_DIST, REPO } from './engine-build.ts'
import { huntMutants } from './mutant-hunt.ts'
import { tryRuntimes } from './packed/runtimes.ts'
import { type ProofFigures, proofPage } from './proof-page.ts'
import { stormOn } from './schedules/storm-report.ts'
import { freshRange, rangeText, seedsOf } from './seed-range.ts'
import { simulateInPool } from './sim-pool.ts'
import type { SimStore } from './sim-seeds.ts'
import { controlsOf, type TorturedControl, tortureControl } from './torture/controls.ts'
import { type TortureOptions, torture } from './torture/torture.ts'

const SEEDS: Record<SimStore, number> = { memory: 200_000, sqlite: 20_000 }
const TORTURE_SECONDS = 60
const STORM = { pauses: 10, kills: true, workers: 3 }

const runtimes = await tryRuntimes()
for (const { runtime, wrong } of runtimes) console.log(`${runtime}: ${wrong || 'prints what the README says'}`)
const simulations = [await simulateOn('memory'), await simulateOn('sqlite')]
const mutants = await huntMutants(({ mutant, seed, by }) =>
  console.log(`mutant ${mutant.name}: ${seed === null ? 'NOT CAUGHT' : `seed ${seed}, ${by.join(' ')}`}`),
)
const tortures = [await tortureOn('sqlite', 'inside'), await tortureOn('postgres', 'inside')]
const outsides = [await tortureOn('sqlite', 'outside'), await tortureOn('postgres', 'outside')]
const storms = [await stormOn('sqlite', STORM), await stormOn('postgres', STORM)]
for (const { store, faults } of storms) console.log(`storm on ${store}: ${faults.length} violations ${faults.join('; ')}`)

const figures: ProofFigures = {
  cores: availableParallelism(),
  node: process.version,
  runtimes,
  simulations,
  mutants,
  tortures,
  outsides,
  storms,
}
writeFileSync(join(REPO, 'docs', 'proof.md'), proofPage(figures))
console.log('docs/proof.md is written')
const failed =
  runtimes.some(({ wrong }) => wrong !== '') ||
  simulations.some(({ violations }) => violations > 0) ||
  mutants.some(({ seed }) => seed === null) ||
  storms.some(({ faults }) => faults.length > 0) ||
  [...tortures, ...outsides].some(
    ({ real, controls }) => real.violations.length > 0 || controls.some(({ violations }) => violations.length === 0),
  )
if (failed) process.exitCode = 1

async function simulateOn(store: SimStore): Promise<ProofFigures['simulations'][number]> {
  const began = performance.now()
  const range = freshRange(store, SEEDS[store])
  const seeds = seedsOf(store, range)
  const { checked, figures: seen, faults, failures } = await simulateInPool({ dist: ENGINE_DIST, store, seeds, untilFailure: false })
  for (const { seed, violations } of failures) addToCorpus(store, seed, whyOf(violations))
  const seconds = Math.round((performance.now() - began) / 1000)
  console.log(
    `simulation on ${store}: ${checked} seeds (${rangeText(range)}) in ${seconds} s, ${failures.length} with violations ${failures.map(({ seed }) => seed)}`,
  )
  return { store, seeds: checked, range: rangeText(range), seconds, faults, violations: failures.length, ...seen }
}

async function tortureOn(store: TortureOptions['store'], workload: TortureOptions['workload']): Promise<ProofFigures['tortures'][number]> {
  const options = { store, workload, seconds: TORTURE_SECONDS }
  const real = await torture({ ...options, dist: ENGINE_DIST })
  console.log(`torture on ${store}, ${workload}: ${JSON.stringify(real.figures)}, ${real.violations.length} violations`)
  const controls: TorturedControl[] = []
  for (const control of controlsOf(workload)) {
    const tortured = await tortureControl(control, options)
    console.log(`its control ${control.mutant.name}: ${tortured.violations.length} violations`)
    controls.push(tortured)
  }
  return { real, controls }
}
