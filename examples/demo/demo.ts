// `npm start`: a job of a dozen steps, its worker killed with SIGKILL in the middle, another worker that goes on.
import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineReport, openDurably, STEPS } from './job.js'

const KILL_AFTER_STEPS = 5
const BAR_CELLS = 24
const colored = process.stdout.isTTY && !process.env.NO_COLOR
const paint = (code: number, text: string) => (colored ? `\u001b[${code}m${text}\u001b[0m` : text)
const say = (text = '') => console.log(text)

const folder = mkdtempSync(join(tmpdir(), 'durably-demo-'))
const file = join(folder, 'demo.db')
const workers = new Set<ChildProcess>()
let done = 0

function bar(): string {
  const full = Math.round((done / STEPS.length) * BAR_CELLS)
  return `${'█'.repeat(full)}${'░'.repeat(BAR_CELLS - full)} ${String(done).padStart(2)}/${STEPS.length}`
}

function startWorker(onStep: (step: { name: string; ran: boolean }) => void): ChildProcess {
  const worker = fork(new URL('./worker.js', import.meta.url), [file], { execArgv: ['--no-warnings'] })
  worker.on('message', onStep)
  workers.add(worker)
  return worker
}

function showStep({ name, ran }: { name: string; ran: boolean }): void {
  done++
  say(`  ${bar()}  ${name.padEnd(20)} ${ran ? paint(32, 'ran') : paint(36, 'skipped (recorded)')}`)
}

async function main(): Promise<void> {
  const durably = openDurably(file)
  const report = defineReport(durably)
  await durably.migrate()
  const order = { idempotencyKey: 'report-2026-10' }
  const run = await report.trigger({ month: '2026-10' }, order)
  say(`run ${run.id} of job "${report.name}": ${STEPS.length} steps, kept in ${file}`)

  const first = startWorker((step) => {
    showStep(step)
    if (done === KILL_AFTER_STEPS) first.kill('SIGKILL')
  })
  say(`\n${paint(1, `worker ${first.pid}`)}`)
  await new Promise((resolve) => first.once('exit', resolve))
  say(paint(31, `  worker ${first.pid} killed with SIGKILL after ${KILL_AFTER_STEPS} steps`))

  done = 0
  const second = startWorker(showStep)
  say(`\n${paint(1, `worker ${second.pid}`)} ${paint(2, 'takes over once the lease of the dead one (1.5 s) has run out')}`)
  // The same key again: not a second run, but the one that is under way.
  const { id, output } = await report.triggerAndWait({ month: '2026-10' }, order)
  say(`\n${paint(1, 'completed')} ${id}`)
  say(`output ${JSON.stringify(output)}`)
  await durably[Symbol.asyncDispose]()
}

try {
  await main()
} finally {
  for (const worker of workers) worker.kill()
  rmSync(folder, { recursive: true, force: true })
}
