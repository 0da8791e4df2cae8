// `npm run torture -- --store postgres --seconds 60`: kills and freezes real worker processes and breaks what they stand on, then
// does the same to a control without its fence, which must be caught.
import { parseArgs } from 'node:util'
import { ENGINE_DIST } from './engine-build.ts'
import { STORES, type Tortured, type TortureFigures, torture } from './torture/torture.ts'
import { tortureUnfenced } from './torture/unfenced.ts'

const HELP = `Kills (SIGKILL) and freezes (SIGSTOP) real worker processes on one database, and checks the invariants.
On Postgres the server crashes too, backends are terminated, and the line to it is cut, slow and swallows replies.
Then a control, the same engine without its fence, must be caught in the same time.

  npm run torture -- --seconds 60     how long the storm lasts (default 60); for the control at most so long
  npm run torture -- --workers 8      how many worker processes (default 8)
  npm run torture -- --store sqlite   the database: one SQLite file (default), or postgres: a server of its own
  npm run torture -- --control        the control only
  npm run torture -- --json           the figures as JSON`

const SHOWN_MAX = 10

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    seconds: { type: 'string', default: '60' },
    workers: { type: 'string', default: '8' },
    control: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

// An exit, unlike the signal's own end, takes the workers and the files along.
process.once('SIGINT', () => process.exit(130))
process.once('SIGTERM', () => process.exit(143))

if (values.help) console.log(HELP)
else await run(number('seconds', values.seconds, 3600), number('workers', values.workers, 32))

async function run(seconds: number, workers: number): Promise<void> {
  const store = STORES.find((name) => name === values.store)
  if (!store) throw new Error(`--store must be ${STORES.join(' or ')}, got ${JSON.stringify(values.store)}`)
  const real = values.control ? null : await torture({ store, dist: ENGINE_DIST, seconds, workers })
  if (real) {
    say(`${store}: ${summary(real)}, ${real.violations.length} violations`)
    show(real)
  }
  const control = await tortureUnfenced({ store, seconds, workers })
  const caught = control.violations.length > 0
  say(`control without its fence: ${summary(control)}, ${caught ? `caught by ${invariants(control)}` : 'NOT CAUGHT'}`)
  if (values.json) console.log(JSON.stringify({ store, real, control: { ...control, caught } }, null, 2))
  if (!caught || (real && real.violations.length > 0)) process.exitCode = 1
}

function summary({ figures: f }: Tortured): string {
  return (
    `${f.seconds} s, ${f.workers} workers, lease ${f.leaseMs} ms: ${f.runs} runs, ${f.stepExecutions} step executions ` +
    `(${f.stepsExecutedMoreThanOnce} steps more than once), ${f.kills} SIGKILL, ${f.pauses} SIGSTOP, ${faults(f)}` +
    `${f.reclaims} reclaims, healed in ${(f.healMs / 1000).toFixed(1)} s`
  )
}

function faults({ faults }: TortureFigures): string {
  return Object.entries(faults)
    .map(([name, count]) => `${count} ${name}, `)
    .join('')
}

function invariants({ violations }: Tortured): string {
  const counts = new Map<string, number>()
  for (const { invariant } of violations) counts.set(invariant, (counts.get(invariant) ?? 0) + 1)
  return [...counts].map(([invariant, count]) => `${invariant} (${count})`).join(', ')
}

function show({ violations }: Tortured): void {
  for (const { invariant, runId, what } of violations.slice(0, SHOWN_MAX)) say(`  ${invariant} run ${runId}: ${what}`)
}

/** With `--json` the standard output is JSON alone. */
function say(line: string): void {
  if (values.json) console.error(line)
  else console.log(line)
}

function number(option: string, text: string, max: number): number {
  const value = Number(text)
  if (!(value >= 1 && value <= max)) throw new Error(`--${option} must be a number from 1 to ${max}, got ${JSON.stringify(text)}`)
  return value
}
