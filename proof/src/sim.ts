// `npm run sim -- --seeds 1000`: simulates many worlds; `--seed 42` replays one and shows what happened in it.
import { createHash } from 'node:crypto'
import { parseArgs } from 'node:util'
import { addToCorpus, whyOf } from './corpus.ts'
import { ENGINE_DIST, loadEngine } from './engine-build.ts'
import { freshRange, PICKED_SEED_MAX, rangeText, SEEDS_MAX, type SeedRange, seedsOf } from './seed-range.ts'
import { simulateInPool } from './sim-pool.ts'
import { SIM_STORES, storeOptions } from './sim-seeds.ts'

const HELP = `Simulates workers that crash, stall and lose their line to the store, and checks the invariants.
The runs are made of steps, streams, retries, sleeps, signals, children, effects and, on SQL, transactions.

  npm run sim                       1000 worlds: the corpus of failed seeds, then a range that follows from the engine's source
  npm run sim -- --seeds 5000       another number of them
  npm run sim -- --from 5000        the first seed of the range, instead of that which follows from the source
  npm run sim -- --seed 42          one world again: its faults, its trace hash, its violations
  npm run sim -- --seed 42 --trace  and every store call in order
  npm run sim -- --store sqlite     the SQL store on an in-memory SQLite instead of the memory store`

const { seeds, from, seed, store, trace, help } = readArguments()

if (help) console.log(HELP)
else if (seed !== undefined) await replay(seed)
else await simulateMany(from === undefined ? freshRange(store, seeds) : { from, count: seeds })

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        seeds: { type: 'string', default: '1000' },
        from: { type: 'string' },
        seed: { type: 'string' },
        store: { type: 'string', default: 'memory' },
        trace: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    const store = SIM_STORES.find((name) => name === values.store)
    if (!store) throw new Error(`--store ${values.store}: there is no such store, only ${SIM_STORES.join(' and ')}`)
    if (values.seed !== undefined && values.from !== undefined)
      throw new Error('--seed replays one world, --from begins many: give one of them')
    const optional = (name: 'from' | 'seed') =>
      values[name] === undefined ? undefined : wholeNumber(`--${name}`, values[name], PICKED_SEED_MAX)
    return { ...values, store, seeds: wholeNumber('--seeds', values.seeds, SEEDS_MAX), from: optional('from'), seed: optional('seed') }
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\nnpm run sim -- --help shows the options`)
    process.exit(2)
  }
}

function wholeNumber(option: string, text: string, max: number): number {
  const number = Number(text)
  if (!/^\d+$/.test(text) || number > max) throw new Error(`${option} ${text}: give a whole number from 0 to ${max}`)
  return number
}

async function simulateMany(range: SeedRange): Promise<void> {
  const began = performance.now()
  const task = { dist: ENGINE_DIST, store, seeds: seedsOf(store, range), untilFailure: false }
  const { checked, worlds, failures, figures, faults } = await simulateInPool(task)
  const seconds = (performance.now() - began) / 1000
  const hours = Math.round(figures.simulatedMs / 3_600_000)
  console.log(
    `${checked} seeds on ${store} (${rangeText(range)}) in ${seconds.toFixed(1)} s, ${Math.round(worlds / seconds)} worlds a second: ${figures.runs} runs, ${figures.executions} step executions, ` +
      `${figures.streams} of them streams, ${figures.commits} commits (${share(figures.groups, figures.commits)} shared), ` +
      `${figures.claims} claims (${share(figures.batches, figures.claims)} of several), ` +
      `${faults} faults, ${figures.kills} deaths, ${hours} simulated hours, ${failures.length} seeds with violations`,
  )
  console.log(
    `of them ${figures.children} children, ${figures.purged} purged, ${figures.deleted} deleted, ${figures.families} families; ${figures.retries} attempts and ${figures.tries} tries failed and came again, ` +
      `${figures.timeouts} runs out of time, ${figures.sleeps} sleeps, ${figures.signals} signals (${figures.waitsOver} waits in vain), ` +
      `${figures.doubts} effects in doubt, ${figures.transactions} transactions (${figures.cuts} cut, ${figures.late} late), ` +
      `${figures.terms} terms of tabs that lead (${figures.thefts} stolen), ` +
      `${figures.scheduled} runs of schedules (${figures.elections} elections, ${figures.refusals} refusals), ${figures.events} events (${figures.eventRefusals} refusals)`,
  )
  console.log(
    `fleets: ${figures.silences} silent owners (${figures.returns} came back), ${figures.assigned} runs assigned (${figures.orphaned} orphaned), ` +
      `${figures.deposed} requests of deposed leaders, ${figures.archived} histories archived, ${figures.recorded} commands recorded`,
  )
  console.log(
    `and ${figures.races} races, ${figures.crowds} crowds, ${figures.later} throws that said when, ${figures.misfits} results that cannot be stored, ` +
      `${figures.misfitsOnce} of effects, ${figures.spoiled} outputs of jobs, ${figures.refused} waits inside of steps, ${figures.suspends} machines that slept`,
  )
  for (const { seed, violations } of failures) addToCorpus(store, seed, whyOf(violations))
  for (const { seed } of failures.slice(0, 3)) await replay(seed)
  if (failures.length > 0) process.exitCode = 1
}

function share(part: number, whole: number): string {
  return `${Math.round((100 * part) / Math.max(1, whole))} %`
}

async function replay(seed: number): Promise<void> {
  const engine = await loadEngine(ENGINE_DIST)
  const options = storeOptions(engine, store)
  const first = await engine.simulate({ seed, keepTrace: true, ...options })
  if (trace) for (const line of first.trace) console.log(line)
  const hash = createHash('sha256').update(first.trace.join('\n')).digest('hex').slice(0, 16)
  console.log(`seed ${seed} on ${store}: ${first.faults.length} faults, trace ${hash}, ${first.violations.length} violations`)
  if (first.violations.length === 0) return
  const smallest = await engine.shrink(first, options)
  for (const { invariant, runId, what } of smallest.violations) console.log(`  ${invariant} run ${runId}: ${what}`)
  console.log(`  fewest faults that still break it:\n${smallest.faults.map((name) => `    ${name}`).join('\n')}`)
  console.log(`  again: npm run sim -- --seed ${seed}${store === 'memory' ? '' : ` --store ${store}`} --trace`)
  process.exitCode = 1
}
