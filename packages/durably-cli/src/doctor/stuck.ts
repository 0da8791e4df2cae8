import type { Phase, Run } from '@coji/durably'
import { shownDuration } from '../output/time.ts'
import { bad, type Check, type Finding, ok, type Patient, warn } from './finding.ts'

const LISTED = 3
const LOOKED_AT = 100
/** A started worker takes a run with a lease that is over within a poll or two. */
const LOST_MS = 60_000
const CANCELLING_MS = 300_000

/** Runs whose lease is over and that nobody takes. */
export const checkLost: Check = async (patient) => {
  const lost = await overdue(patient, ['stale', 'orphaned'], LOST_MS)
  if (lost.length === 0) return ok('lost workers', 'no run waits to be taken over')
  return bad(
    'lost workers',
    `${lost.length} runs lost their worker and nobody took them over: ${listed(lost, patient.nowMs)}`,
    'start a worker: durably worker ./jobs.ts',
  )
}

/** Runs that were asked to stop and do not. */
export const checkCancelling: Check = async (patient) => {
  const found = await overdue(patient, ['cancelling'], CANCELLING_MS)
  if (found.length === 0) return ok('cancelled runs', 'no run ignores that it was asked to stop')
  return warn(
    'cancelled runs',
    `${found.length} runs were asked to stop and go on: ${listed(found, patient.nowMs)}`,
    'pass ctx.signal to what the job awaits; a restart of the worker ends them',
  )
}

/** Only a person can let these go on. */
export const checkDecisions: Check = async ({ durably }): Promise<Finding> => {
  const waiting = await durably.getRuns({ phase: 'waiting', values: false, limit: LOOKED_AT })
  const open = waiting.filter(({ waitingFor }) => waitingFor?.kind === 'decision')
  const [first] = open
  if (first?.waitingFor?.kind !== 'decision') return ok('decisions', 'no run waits for a decision')
  return bad(
    'decisions',
    `${open.length} runs wait until somebody says what became of an effect, such as ${first.id}`,
    `durably decide ${first.id} ${first.waitingFor.step} --done <json> | --failed <message> | --run-again`,
  )
}

export const checkCrashLoops: Check = async ({ durably, nowMs }) => {
  const failed = await durably.getRuns({ status: 'failed', finishedAfter: nowMs - 86_400_000, values: false, limit: LOOKED_AT })
  const loops = failed.filter(({ reason }) => reason === 'crash_loop')
  const [first] = loops
  if (!first) return ok('crash loops', 'no run of the last day lost too many workers')
  return bad(
    'crash loops',
    `${loops.length} runs of the last day failed because they lost too many workers, such as ${first.id} of ${first.jobName}`,
    `look for what ends the process (memory, a native crash) at the step where durably run ${first.id} ends; then durably retry ${first.id}`,
  )
}

async function overdue({ durably, nowMs }: Patient, phase: Phase[], ms: number): Promise<Run[]> {
  const found = await durably.getRuns({ phase, values: false, limit: LOOKED_AT })
  return found.filter((run) => nowMs - lastSign(run) > ms)
}

/** When somebody last did something about it. */
function lastSign({ updatedAt, heartbeatAt, cancelRequestedAt }: Run): number {
  return cancelRequestedAt === null ? Math.max(Date.parse(updatedAt), Date.parse(heartbeatAt)) : Date.parse(cancelRequestedAt)
}

function listed(runs: readonly Run[], nowMs: number): string {
  const shown = runs
    .slice(0, LISTED)
    .map(({ id, jobName, heartbeatAt }) => `${id} of ${jobName} (${shownDuration(nowMs - Date.parse(heartbeatAt))})`)
  return shown.join(', ') + (runs.length > LISTED ? ', …' : '')
}
