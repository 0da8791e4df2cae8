// `npm run storm`: a leader that is suspended past its lease ten times while workers are killed, in real processes.
import { parseArgs } from 'node:util'
import { stormOn } from './schedules/storm-report.ts'

const HELP = `Suspends the elected leader of several processes past its lease, again and again, and kills others, while two schedules fire every second and the
leader chooses the worker of each run. Then every time of the schedules must have been used as its policy says, every refused leader must have said so,
and every run must have been executed by one process at a time and have completed.

  npm run storm                      ten pauses on Postgres, then on SQLite: about seven minutes
  npm run storm -- --store sqlite    on one of them
  npm run storm -- --pauses 3        another number of pauses, at most 100
  npm run storm -- --workers 5       another number of processes, from 3 to 20`

const { values } = parseArgs({
  options: {
    store: { type: 'string' },
    pauses: { type: 'string', default: '10' },
    workers: { type: 'string', default: '3' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(HELP)
  process.exit()
}
const options = { pauses: within('pauses', 1, 100), workers: within('workers', 3, 20), kills: true }
const stores = (['postgres', 'sqlite'] as const).filter((store) => (values.store ?? store) === store)
if (stores.length === 0) fail(`--store ${values.store}: there is no such store, only postgres and sqlite`)
for (const store of stores) await report(store)

function within(option: 'pauses' | 'workers', min: number, max: number): number {
  const number = Number(values[option])
  if (!Number.isInteger(number) || number < min || number > max)
    fail(`--${option} ${values[option]}: give a whole number from ${min} to ${max}`)
  return number
}

function fail(message: string): never {
  console.error(`${message}\nnpm run storm -- --help shows the options`)
  process.exit(2)
}

async function report(store: 'postgres' | 'sqlite'): Promise<void> {
  const { storm, faults } = await stormOn(store, options)
  const { seconds, busy, changes, deposed, unreported, killed, leaderlessMs, all, once, executions, reclaimed } = storm
  console.log(`${store}: ${options.pauses} pauses of the leader and ${killed} SIGKILL among ${options.workers} processes in ${seconds} s`)
  console.log(
    `  ${changes} changes of the leader, at most ${leaderlessMs} ms after the end of a lease; ${deposed} refused leaders, ${unreported} of them silent; ${busy} reports of a locked database`,
  )
  console.log(
    `  ${all.length} times used with misfire all, ${once.length} with misfire once; ${executions} executions, ${reclaimed} runs of killed processes`,
  )
  console.log(`  ${faults.length} violations`)
  for (const fault of faults) console.log(`    ${fault}`)
  if (faults.length > 0) process.exitCode = 1
}
