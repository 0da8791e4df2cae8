import { counted } from '../output/plural.ts'
import { shownDuration } from '../output/time.ts'
import { bad, type Check, ok } from './finding.ts'

const LATE_MS = 60_000
const LOOKED_AT = 1000

/** Any started process fires schedules: one that is late shows that none is there. */
export const checkSchedules: Check = async ({ durably, nowMs, commands }) => {
  const schedules = await durably.schedules.list({ limit: LOOKED_AT })
  const late = schedules.filter(({ nextAt }) => nextAt !== null && nowMs - Date.parse(nextAt) > LATE_MS)
  const [first] = late
  if (!first) return ok('schedules', schedules.length === 0 ? 'there are none' : `${schedules.length}, none is late`)
  const lateMs = nowMs - Date.parse(first.nextAt ?? '')
  return bad(
    'schedules',
    `${counted(late.length, 'is', 'are')} late, ${first.id} by ${shownDuration(lateMs)}: no started process fires ${late.length === 1 ? 'it' : 'them'}`,
    `start a worker: ${commands.worker([first.jobName])}`,
  )
}
