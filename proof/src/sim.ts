// `npm run sim -- --seeds 1000`: simulates many worlds; `--seed 42` replays one and shows what happened in it.
import { createHash } from 'node:crypto'
import { parseArgs } from 'node:util'
import { addToCorpus, corpusSeeds } from './corpus.ts'
import { ENGINE_DIST, loadEngine } from './engine-build.ts'
import { simulateInPool } from './sim-pool.ts'
import { type SimStore, storeOptions } from './sim-seeds.ts'

const HELP = `Simulates workers that crash, stall and lose their line to the store, and checks the invariants.
The runs are made of steps, streams, retries, sleeps, signals, children, effects and, on SQL, transactions.

  npm run sim -- --seeds 1000       many worlds (default 1000), the corpus of failed seeds first
  npm run sim -- --from 5000        the first seed (default 0)
  npm run sim -- --seed 42          one world again: its faults, its trace hash, its violations
  npm run sim -- --seed 42 --trace  and every store call in order
  npm run sim -- --store sqlite     the SQL store on an in-memory SQLite instead of the memory store`

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '0' },
    seed: { type: 'string' },
    store: { type: 'string', default: 'memory' },
    trace: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const store = values.store as SimStore

if (values.help) console.log(HELP)
else if (values.seed !== undefined) await replay(Number(values.seed))
else await simulateMany(Number(values.from), Number(values.seeds))

async function simulateMany(from: number, count: number): Promise<void> {
  const began = performance.now()
  const seeds = [...new Set([...corpusSeeds(), ...Array.from({ length: count }, (_, i) => from + i)])]
  const { checked, failures, figures, faults } = await simulateInPool({ dist: ENGINE_DIST, store, seeds, untilFailure: false })
  const seconds = (performance.now() - began) / 1000
  const hours = Math.round(figures.simulatedMs / 3_600_000)
  console.log(
    `${checked} seeds on ${store} in ${seconds.toFixed(1)} s: ${figures.runs} runs, ${figures.executions} step executions, ` +
      `${figures.streams} of them streams, ${figures.commits} commits (${share(figures.groups, figures.commits)} shared), ` +
      `${figures.claims} claims (${share(figures.batches, figures.claims)} of several), ` +
      `${faults} faults, ${figures.kills} deaths, ${hours} simulated hours, ${failures.length} seeds with violations`,
  )
  console.log(
    `of them ${figures.children} children, ${figures.purged} purged; ${figures.retries} attempts and ${figures.tries} tries failed and came again, ` +
      `${figures.timeouts} runs out of time, ${figures.sleeps} sleeps, ${figures.signals} signals (${figures.waitsOver} waits in vain), ` +
      `${figures.doubts} effects in doubt, ${figures.transactions} transactions (${figures.cuts} cut), ` +
      `${figures.terms} terms of tabs that lead (${figures.thefts} stolen)`,
  )
  for (const { seed, violations } of failures) addToCorpus(seed, violations[0] ? `${violations[0].invariant} ${violations[0].what}` : '')
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
  if (values.trace) for (const line of first.trace) console.log(line)
  const hash = createHash('sha256').update(first.trace.join('\n')).digest('hex').slice(0, 16)
  console.log(`seed ${seed} on ${store}: ${first.faults.length} faults, trace ${hash}, ${first.violations.length} violations`)
  if (first.violations.length === 0) return
  const smallest = await engine.shrink(first, options)
  for (const { invariant, runId, what } of smallest.violations) console.log(`  ${invariant} run ${runId}: ${what}`)
  console.log(`  fewest faults that still break it:\n${smallest.faults.map((name) => `    ${name}`).join('\n')}`)
  console.log(`  again: npm run sim -- --seed ${seed}${store === 'memory' ? '' : ` --store ${store}`} --trace`)
  process.exitCode = 1
}
