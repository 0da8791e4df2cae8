import type { Phase, Run } from '@coji/durably'
import { counted } from '../output/plural.ts'
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
    `${counted(lost.length, 'run lost its worker', 'runs lost their worker')} and nobody took over: ${listed(lost, patient.nowMs)}`,
    `start a worker: ${patient.commands.worker([...new Set(lost.map(({ jobName }) => jobName))])}`,
  )
}

/** Runs that were asked to stop and do not. */
export const checkCancelling: Check = async (patient) => {
  const found = await overdue(patient, ['cancelling'], CANCELLING_MS)
  if (found.length === 0) return ok('cancelled runs', 'no run ignores that it was asked to stop')
  return warn(
    'cancelled runs',
    `${counted(found.length, 'run was asked to stop and goes on', 'runs were asked to stop and go on')}: ${listed(found, patient.nowMs)}`,
    'pass ctx.signal to what the job awaits; a restart of the worker ends them',
  )
}

/** Only a person can let these go on. */
export const checkDecisions: Check = async ({ durably, pending, commands }): Promise<Finding> => {
  const open = (await pending.waiting()).filter(({ kinds }) => kinds.includes('decision'))
  const [first] = open
  const wait = first && (await durably.getRun(first.id))?.waitingFor
  if (wait?.kind !== 'decision') return ok('decisions', 'no run waits for a decision')
  return bad(
    'decisions',
    `${counted(open.length, 'run waits', 'runs wait')} until somebody says what became of an effect, such as ${first?.id} of ${first?.jobName} with step ${JSON.stringify(wait.step)}`,
    ['find out, and say so with one of these:', ...commands.decide(first?.id ?? '', wait.step)].join('\n'),
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
