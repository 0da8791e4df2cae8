// `npm run torture -- --store postgres --seconds 60`: kills, stops and freezes real processes and breaks what they stand on, under two
// workloads, then does the same to controls without one of their guards, which must be caught.
import { parseArgs } from 'node:util'
import { grouped } from '../../packages/durably/dist/testing/invariants/history.js'
import { ENGINE_DIST } from './engine-build.ts'
import { controlNamed, controlsOf, type TorturedControl, tortureControl } from './torture/controls.ts'
import { FAULTS, FAULTS_IN_WORDS, type FaultName } from './torture/faults.ts'
import { type Tortured, type TortureFigures, type TortureOptions, torture } from './torture/torture.ts'
import { STORES, WORKLOADS } from './torture/workloads.ts'

const HELP = `Kills (SIGKILL), stops (SIGTERM) and freezes (SIGSTOP) real processes on one database, and checks the invariants.
On Postgres the server crashes too, backends are terminated, and the line to it is cut, slow and swallows replies.
Then a control, the same engine without its fence, must be caught in the same time.

  npm run torture -- --seconds 60         how long each storm lasts (default 60); for a control at most so long
  npm run torture -- --workers 8          how many worker processes (default 8)
  npm run torture -- --store sqlite       the database: one SQLite file (default), or postgres: a server of its own
  npm run torture -- --workload outside   one of the two, else both in turn:
      inside    chains and fans of steps; the judge knows every lease
      outside   every feature of the public API; the judge knows what an outsider can see: public reads, rows, effects
  npm run torture -- --faults kill,skew   these faults alone, or none; else all that the workload is made for:
${FAULTS.map((fault) => `      ${fault.padEnd(10)}${FAULTS_IN_WORDS[fault]}`).join('\n')}
  npm run torture -- --control            the controls only, and all of them
  npm run torture -- --mutant no-reap     a control only: any mutant, by its name in proof/src/mutants/
  npm run torture -- --json               the figures as JSON

Where a promise is broken the folder with what every process did (ledger/) and what was done to it (incidents) is kept and named.`

const SHOWN_MAX = 5

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    workload: { type: 'string' },
    faults: { type: 'string' },
    seconds: { type: 'string', default: '60' },
    workers: { type: 'string', default: '8' },
    control: { type: 'boolean', default: false },
    mutant: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

// An exit, unlike a death by the signal, ends the workers and removes the files.
process.once('SIGINT', () => process.exit(130))
process.once('SIGTERM', () => process.exit(143))

if (values.help) console.log(HELP)
else await run()

async function run(): Promise<void> {
  const store = oneOf('store', values.store, STORES)
  const kinds = Object.keys(WORKLOADS) as TortureOptions['workload'][]
  const chosen = values.workload === undefined ? kinds : [oneOf('workload', values.workload, kinds)]
  const faults: FaultName[] | undefined =
    values.faults === 'none' ? [] : values.faults?.split(',').map((name) => oneOf('faults', name, FAULTS))
  const [seconds, workers] = [number('seconds', values.seconds, 3600), number('workers', values.workers, 32)]
  const results: object[] = []
  for (const workload of chosen) {
    const options = { store, workload, seconds, workers, ...(faults && { faults }) }
    const isControlOnly = values.control || values.mutant !== undefined
    const real = isControlOnly ? null : await torture({ ...options, dist: ENGINE_DIST })
    if (real) {
      say(`${workload}, ${store}: ${summary(real)}, ${real.violations.length} violations`)
      show(real)
    }
    const all = values.mutant === undefined ? controlsOf(workload) : [controlNamed(workload, values.mutant)]
    const controls: TorturedControl[] = []
    for (const control of isControlOnly ? all : all.slice(0, 1)) {
      const tortured = await tortureControl(control, options)
      controls.push(tortured)
      const caught = tortured.violations.length > 0 ? `caught by ${invariants(tortured)}` : 'NOT CAUGHT'
      say(`control without "${control.mutant.guard}": ${summary(tortured)}, ${caught}`)
    }
    results.push({ store, workload, real, controls })
    if (controls.some(({ violations }) => violations.length === 0) || (real && real.violations.length > 0)) process.exitCode = 1
  }
  if (values.json) console.log(JSON.stringify(results, null, 2))
}

function summary({ figures: f }: Tortured): string {
  return (
    `${f.seconds} s, ${f.workers} workers, lease ${f.leaseMs} ms: ${f.runs} runs, ${f.stepExecutions} step executions ` +
    `(${f.stepsExecutedMoreThanOnce} steps more than once), ${f.kills} SIGKILL, ${f.stops} SIGTERM, ${f.pauses} SIGSTOP, ` +
    `${faultsOf(f)}${f.reclaims} reclaims, ${f.releases} releases, healed in ${(f.healMs / 1000).toFixed(1)} s`
  )
}

function faultsOf({ faults }: TortureFigures): string {
  return Object.entries(faults)
    .map(([name, count]) => `${count} ${name}, `)
    .join('')
}

function invariants({ violations }: Pick<Tortured, 'violations'>): string {
  const counts = new Map<string, number>()
  for (const { invariant } of violations) counts.set(invariant, (counts.get(invariant) ?? 0) + 1)
  return [...counts].map(([invariant, count]) => `${invariant} (${count})`).join(', ')
}

/** A few of each kind: hundreds of one must not hide the only one of another. */
function show({ violations, evidence }: Tortured): void {
  if (evidence !== null) say(`  broken: ${invariants({ violations })}; what happened is in ${evidence}`)
  for (const kind of grouped(violations, ({ invariant }) => invariant).values())
    for (const { invariant, runId, what } of kind.slice(0, SHOWN_MAX)) say(`  ${invariant} run ${runId}: ${what}`)
}

/** With `--json` the standard output has nothing but JSON. */
function say(line: string): void {
  if (values.json) console.error(line)
  else console.log(line)
}

function oneOf<T extends string>(option: string, text: string, names: readonly T[]): T {
  const name = names.find((one) => one === text)
  if (name === undefined) throw new Error(`--${option} must be ${names.join(' or ')}, got ${JSON.stringify(text)}`)
  return name
}

function number(option: string, text: string, max: number): number {
  const value = Number(text)
  if (!(value >= 1 && value <= max)) throw new Error(`--${option} must be a number from 1 to ${max}, got ${JSON.stringify(text)}`)
  return value
}
