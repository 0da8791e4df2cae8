import type { Run, WaitingFor } from '@coji/durably'
import { firstLine } from '../output/first-line.ts'
import { counted } from '../output/plural.ts'
import { shownDuration } from '../output/time.ts'
import { waitingInWords } from '../output/waiting.ts'
import { type Check, type Finding, ok } from './finding.ts'
import { RUNS_MAX, type WaitingRun } from './pending-runs.ts'

const KINDS: Partial<Record<WaitingFor['kind'], string>> = {
  signal: 'for a signal',
  decision: 'for a decision',
  child: 'for a run that they invoked',
  retry: 'for the next attempt',
  'step retry': 'for the next attempt of a step',
  sleep: 'for the end of a sleep',
  delay: 'for their start',
}

/** As it should be, but whoever looks for a run that does not go on may find it here. */
export const checkWaiting: Check = async ({ durably, pending, commands, nowMs }): Promise<Finding> => {
  const waiting = await pending.waiting()
  const longest = waiting.find(({ kinds: [kind] }) => kind !== 'sleep' && kind !== 'delay') ?? waiting[0]
  if (!longest) return ok('waiting runs', 'no run waits for a time, a signal or another run')
  const run = await durably.getRun(longest.id)
  const how = run?.waitingFor ? `: ${waitingInWords(run.waitingFor, nowMs)}${errorOf(run)}` : ''
  return {
    check: 'waiting runs',
    state: 'ok',
    what: `${howMany(waiting)}: ${byKind(waiting)}; the longest, ${longest.id} of ${longest.jobName}, for ${shownDuration(nowMs - longest.sinceMs)}${how}`,
    remedy: commands.explain(longest.id),
  }
}

function howMany(waiting: readonly WaitingRun[]): string {
  const ofJobs = new Map<string, number>()
  for (const { jobName } of waiting) ofJobs.set(jobName, (ofJobs.get(jobName) ?? 0) + 1)
  const isCut = [...ofJobs.values()].some((count) => count >= RUNS_MAX)
  return isCut ? `${waiting.length} or more runs wait` : counted(waiting.length, 'run waits', 'runs wait')
}

function byKind(waiting: readonly WaitingRun[]): string {
  const counts = new Map<WaitingFor['kind'], number>()
  for (const {
    kinds: [kind = 'sleep'],
  } of waiting)
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts].map(([kind, count]) => `${count} ${KINDS[kind] ?? kind}`).join(', ')
}

function errorOf({ error }: Run): string {
  return error === null ? '' : `, after ${JSON.stringify(firstLine(error))}`
}
