// Plays what the product is about, once: a job with a dozen steps, its worker killed in the middle, and another one that goes on.
import type { Io } from '../output/io.ts'
import { paint } from '../output/paint.ts'
import { DEV_LEASE_MS } from './dev-instance.ts'
import { REPORT_STEPS } from './sample-jobs.ts'
import type { DevSession } from './session.ts'

const KILL_AFTER_STEPS = 5
const BAR_CELLS = 24

export async function playDemo(session: DevSession, io: Io, signal: AbortSignal): Promise<void> {
  const report = session.durably.jobs.get('monthly-report')
  if (!report) return
  const run = await report.trigger({ month: '2026-10' })
  io.out(`\n${paint(io, 'bold', 'demo')}  run ${run.id} of ${report.name}, ${REPORT_STEPS.length} steps`)
  let done = 0
  for await (const event of session.durably.subscribe(run.id, { signal })) {
    if (event.type === 'run:start')
      io.out(`${paint(io, 'bold', `worker ${session.state.pid ?? ''}`)}${done === 0 ? '' : `  takes over after step ${done}`}`)
    if (event.type === 'run:complete') io.out(`${paint(io, 'bold', 'completed')}  ${JSON.stringify(event.output)}\n`)
    if (event.type !== 'step:complete') continue
    done++
    io.out(`  ${bar(done)}  ${event.stepName}`)
    if (done !== KILL_AFTER_STEPS) continue
    const pid = session.kill()
    io.out(paint(io, 'red', `  worker ${pid} killed with SIGKILL; its lease (${DEV_LEASE_MS / 1000} s) must be over first`))
  }
}

function bar(done: number): string {
  const full = Math.round((done / REPORT_STEPS.length) * BAR_CELLS)
  return `${'█'.repeat(full)}${'░'.repeat(BAR_CELLS - full)} ${String(done).padStart(2)}/${REPORT_STEPS.length}`
}
