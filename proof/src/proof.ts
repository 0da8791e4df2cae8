// `npm run proof`: the long forms of all proofs, and docs/proof.md written from what they found.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ENGINE_DIST, REPO } from './engine-build.ts'
import { huntMutants } from './mutant-hunt.ts'
import { MUTANTS } from './mutants/index.ts'
import { tryRuntimes } from './packed/runtimes.ts'
import { circumstances, type KeptFigures, keepFigures, keptFigures, PARTS, type PartName, type ProofFigures } from './proof-figures.ts'
import type { HuntedGuard } from './proof-page/mutants-section.ts'
import type { TorturedTwice } from './proof-page/process-sections.ts'
import type { Simulation } from './proof-page/simulation-section.ts'
import { proofPage } from './proof-page.ts'
import { stormOn } from './schedules/storm-report.ts'
import type { SimStore } from './sim-seeds.ts'
import { simulateSlices } from './simulate-slices.ts'
import { controlsOf, type TorturedControl, tortureControl } from './torture/controls.ts'
import { type TortureOptions, torture } from './torture/torture.ts'

const SEEDS: Record<SimStore, number> = { memory: 300_000, sqlite: 20_000 }
const TORTURE_SECONDS = 60
const STORM = { pauses: 10, kills: true, workers: 3 }

const HELP = `Runs the long forms of all proofs, and writes docs/proof.md from what they found. It takes hours, on Node 24 from npm: the simulator
needs twice as long on Node 20.

  npm run proof                          all parts
  npm run proof -- --resume              those that have no figures of the present source yet; simulations go on where they were interrupted
  npm run proof -- --only mutants,storm  some parts: ${PARTS.join(', ')}`

/** Each answers what it found, and prints it. */
const RUN: { [Name in PartName]: (before: ProofFigures[Name] | undefined) => Promise<ProofFigures[Name]> } = {
  runtimes: async () => {
    const runtimes = await tryRuntimes()
    for (const { runtime, wrong } of runtimes) console.log(`${runtime}: ${wrong || 'prints what the README says'}`)
    return runtimes
  },
  memory: (before) => simulateOn('memory', before),
  sqlite: (before) => simulateOn('sqlite', before),
  mutants: huntAll,
  torture: async () => [await tortureOn('sqlite', 'inside'), await tortureOn('postgres', 'inside')],
  outside: async () => [await tortureOn('sqlite', 'outside'), await tortureOn('postgres', 'outside')],
  storm: async () => {
    const storms = [await stormOn('sqlite', STORM), await stormOn('postgres', STORM)]
    for (const { store, faults } of storms) console.log(`storm on ${store}: ${faults.length} violations ${faults.join('; ')}`)
    return storms
  },
}

const FAILED: { [Name in PartName]: (found: ProofFigures[Name]) => boolean } = {
  runtimes: (runtimes) => runtimes.some(({ wrong }) => wrong !== ''),
  memory: ({ broken }) => broken.length > 0,
  sqlite: ({ broken }) => broken.length > 0,
  mutants: (mutants) => mutants.some(({ seed }) => seed === null),
  torture: isTortureBroken,
  outside: isTortureBroken,
  storm: (storms) => storms.some(({ faults }) => faults.length > 0),
}

const kept: KeptFigures = keptFigures()
/** Taken once: somebody may edit the source while a build of it is tried for hours. */
const NOW = circumstances()
const { parts, resume, help } = readArguments()
if (help) console.log(HELP)
else for (const name of parts) await runPart(name)

function readArguments(): { parts: readonly PartName[]; resume: boolean; help: boolean } {
  try {
    const options = {
      only: { type: 'string' },
      resume: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    } as const
    const { only, ...values } = parseArgs({ options }).values
    const named = only?.split(',').map((name) => {
      const part = PARTS.find((part) => part === name)
      if (!part) throw new Error(`--only ${name}: there is no such part, only ${PARTS.join(', ')}`)
      return part
    })
    return { parts: named ?? PARTS, ...values }
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\nnpm run proof -- --help shows the options`)
    process.exit(2)
  }
}

async function runPart<Name extends PartName>(name: Name): Promise<void> {
  const before = resume && kept[name]?.source === NOW.source ? kept[name].found : undefined
  const found = before && isComplete(name) ? before : await RUN[name](before)
  keep(name, found)
  if (FAILED[name](found)) process.exitCode = 1
}

/** A simulation may lack seeds, and mutants may have been added: they are not part of the engine's source. */
function isComplete(name: PartName): boolean {
  return name === 'mutants' ? kept.mutants?.found.length === MUTANTS.length : !isSimulation(name)
}

function isSimulation(name: PartName): name is SimStore {
  return name === 'memory' || name === 'sqlite'
}

function keep<Name extends PartName>(name: Name, found: ProofFigures[Name]): void {
  Object.assign(kept, { [name]: { ...NOW, found } })
  keepFigures(kept)
  writeFileSync(join(REPO, 'docs', 'proof.md'), proofPage(kept))
}

function simulateOn(store: SimStore, before: Simulation | undefined): Promise<Simulation> {
  return simulateSlices(store, SEEDS[store], before, (simulation) => {
    const { from, fresh, seconds, broken } = simulation
    console.log(
      `simulation on ${store}: ${from} to ${from + fresh - 1} and the corpus in ${seconds} s, ${broken.length} with violations ${broken}`,
    )
    keep(store, simulation)
  })
}

async function huntAll(): Promise<HuntedGuard[]> {
  const hunted = await huntMutants(({ mutant, seed, by }) =>
    console.log(`mutant ${mutant.name}: ${seed === null ? 'NOT CAUGHT' : `seed ${seed}, ${by.join(' ')}`}`),
  )
  return hunted.map(({ mutant: { guard }, seed, by }) => ({ guard, seed, by }))
}

async function tortureOn(store: TortureOptions['store'], workload: TortureOptions['workload']): Promise<TorturedTwice> {
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

function isTortureBroken(tortures: readonly TorturedTwice[]): boolean {
  return tortures.some(({ real, controls }) => real.violations.length > 0 || controls.some(({ violations }) => violations.length === 0))
}
