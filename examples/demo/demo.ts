// `npm start`: runs a job with a dozen steps, kills its worker with SIGKILL in the middle, and starts another worker that resumes the run.
import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineReport, LEASE_MS, openDurably, STEPS } from './job.ts'

const KILL_AFTER_STEPS = 5
const BAR_CELLS = 24
const colored = process.stdout.isTTY && !process.env.NO_COLOR
const paint = (code: number, text: string) => (colored ? `\u001b[${code}m${text}\u001b[0m` : text)
const bold = (text: string) => paint(1, text)
const say = (text = '') => console.log(text)

const folder = mkdtempSync(join(tmpdir(), 'durably-demo-'))
const file = join(folder, 'demo.db')
const workers = new Set<ChildProcess>()
let ending = false

function startWorker(onStep: (shown: number) => void): ChildProcess {
  const worker = fork(new URL('./worker.js', import.meta.url), [file], { execArgv: ['--no-warnings'] })
  let shown = 0
  worker.on('message', ({ name, ran }: { name: string; ran: boolean }) => {
    showStep(++shown, name, ran)
    onStep(shown)
  })
  worker.once('exit', () => workers.delete(worker))
  workers.add(worker)
  return worker
}

function showStep(done: number, name: string, ran: boolean): void {
  const full = Math.round((done / STEPS.length) * BAR_CELLS)
  const bar = `${'█'.repeat(full)}${'░'.repeat(BAR_CELLS - full)} ${String(done).padStart(2)}/${STEPS.length}`
  say(`  ${bar}  ${name.padEnd(18)}  ${ran ? paint(32, 'ran') : paint(36, 'skipped (recorded)')}`)
}

function exited(worker: ChildProcess): Promise<unknown> {
  return new Promise((resolve) => worker.once('exit', resolve))
}

async function main(): Promise<void> {
  const durably = openDurably(file)
  const report = defineReport(durably)
  await durably.migrate()
  const once = { idempotencyKey: 'report-2026-10' }
  const run = await report.trigger({ month: '2026-10' }, once)
  say(`${bold('job')}  ${report.name}, ${STEPS.length} steps`)
  say(`${bold('run')}  ${run.id}`)
  say(`${bold('kept in')}  ${file}`)

  const first = startWorker((shown) => shown === KILL_AFTER_STEPS && first.kill('SIGKILL'))
  say(`\n${bold(`worker ${first.pid}`)}`)
  await exited(first)
  if (ending) return
  const recorded = await durably.getSteps(run.id)
  say(paint(31, `  killed with SIGKILL; the file holds ${recorded.length} recorded steps`))

  let showedAll = () => {}
  const allShown = new Promise<void>((resolve) => {
    showedAll = resolve
  })
  const second = startWorker((shown) => shown === STEPS.length && showedAll())
  say(`\n${bold(`worker ${second.pid}`)}  takes over when the dead one's lease (${LEASE_MS / 1000} s) is over`)
  // The same key again returns the existing run instead of creating a second one.
  const [{ output }] = await Promise.all([report.triggerAndWait({ month: '2026-10' }, once), allShown])
  say(`\n${bold('completed')}  ${JSON.stringify(output)}`)
  await durably[Symbol.asyncDispose]()
}

/** No process and no file outlives the demo, however it ends. */
async function tidyUp(): Promise<void> {
  ending = true
  const gone = [...workers].map(exited)
  for (const worker of workers) worker.kill('SIGKILL')
  await Promise.all(gone)
  rmSync(folder, { recursive: true, force: true })
}

for (const [signal, number] of Object.entries({ SIGINT: 2, SIGTERM: 15, SIGHUP: 1 }))
  process.once(signal, () => tidyUp().then(() => process.exit(128 + number)))

try {
  await main()
} finally {
  await tidyUp()
}
