import { sql } from 'kysely'
import { countedUpTo } from '../output/plural.ts'
import { shownDuration } from '../output/time.ts'
import { type Check, ok, type Patient, warn } from './finding.ts'
import { RUNS_MAX } from './pending-runs.ts'
import { WAITED_MS } from './unattended.ts'

/** Runs that are due and wait for their concurrency key: no worker can start them before the run that has it ends. */
export const checkHeldKeys: Check = async (patient) => {
  const { pending, commands, nowMs } = patient
  const held = (await pending.due(WAITED_MS)).filter(({ holderId }) => holderId !== null)
  const [oldest] = held
  if (!oldest?.holderId) return ok('held keys', `no run has waited for longer than ${WAITED_MS / 1000} s for its concurrency key`)
  const holderJob = await jobOf(patient, oldest.holderId)
  return warn(
    'held keys',
    `${countedUpTo(RUNS_MAX, held.length, 'run waits', 'runs wait')} for a concurrency key that another run has; the oldest, ${oldest.id} of ${oldest.jobName}, ` +
      `for ${shownDuration(nowMs - oldest.sinceMs)} for key ${JSON.stringify(oldest.concurrencyKey)} of ${oldest.holderId}${holderJob}`,
    commands.explain(oldest.id),
  )
}

async function jobOf({ durably, tables }: Patient, id: string): Promise<string> {
  const { rows } = await sql<{ job_name: string }>`SELECT job_name FROM ${tables('runs')} WHERE id = ${id}`.execute(durably.db)
  return rows[0] ? ` of ${rows[0].job_name}` : ''
}
