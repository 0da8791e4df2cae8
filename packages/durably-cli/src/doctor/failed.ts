import type { Durably, Run } from '@coji/durably'
import { firstLine } from '../output/first-line.ts'
import { countedUpTo } from '../output/plural.ts'
import { relative } from '../output/time.ts'
import { bad, type Check, ok, type Patient, warn } from './finding.ts'

const DAY_MS = 86_400_000
const LOOKED_AT = 500

type Failed = Extract<Run, { status: 'failed' }>

export const checkFailed: Check = async (patient) => {
  const { commands, nowMs } = patient
  const failed = await failedLately(patient)
  const [newest] = failed
  if (!newest) return ok('failed runs', 'no run has failed within the last day')
  return warn(
    'failed runs',
    `${countedUpTo(LOOKED_AT, failed.length, 'run')} failed within the last day; the newest, ${newest.id} of ${newest.jobName}, ` +
      `${relative(newest.finishedAt, nowMs)}: ${JSON.stringify(firstLine(newest.error))}`,
    commands.explain(newest.id),
  )
}

export const checkCrashLoops: Check = async (patient) => {
  const { commands } = patient
  const loops = (await failedLately(patient)).filter(({ reason }) => reason === 'crash_loop')
  const [first] = loops
  if (!first) return ok('crash loops', 'no run of the last day lost too many workers')
  return bad(
    'crash loops',
    `${countedUpTo(LOOKED_AT, loops.length, 'run')} of the last day failed because too many workers were lost, such as ${first.id} of ${first.jobName}`,
    `look for what ends the process (memory, a native crash) at the step where this one ends: ${commands.run(first.id)}\nthen: ${commands.retry(first.id)}`,
  )
}

/**
 * The newest first. Among the last that were created and failed, and among the last that ended, whenever they were created: no index has runs that
 * failed by their end, and a day may have a million that did not fail.
 */
async function failedLately({ durably, nowMs }: Pick<Patient, 'durably' | 'nowMs'>): Promise<Failed[]> {
  const since = nowMs - DAY_MS
  const [created, ended] = [await read(durably, { status: 'failed' }), await read(durably, { finishedAfter: since })]
  const found = new Map<string, Failed>()
  for (const run of [...created, ...ended]) if (run.status === 'failed' && endOf(run) > since) found.set(run.id, run)
  return [...found.values()].sort((a, b) => endOf(b) - endOf(a))
}

function read(durably: Durably, filter: Parameters<Durably['getRuns']>[0]): Promise<Run[]> {
  return durably.getRuns({ ...filter, values: false, limit: LOOKED_AT })
}

function endOf({ finishedAt }: Run): number {
  return Date.parse(finishedAt ?? '')
}
