import { sql } from 'kysely'
import { type Check, ok, warn } from './finding.ts'

/** Leases are half a minute: clocks that differ by seconds still work. */
const DIFFERENCE_MS_MAX = 5000

/** On Postgres the clock of the server decides; on SQLite that of each process, so they must agree. */
export const checkClock: Check = async ({ durably, place, tables, nowMs }) => {
  const localMs = place.now()
  if (place.kind === 'postgres') {
    const difference = Math.abs(nowMs - localMs)
    if (difference <= DIFFERENCE_MS_MAX) return ok('clock', `this machine and the server differ by ${difference} ms`)
    return warn(
      'clock',
      `this machine and the server differ by ${Math.round(difference / 1000)} s`,
      'set the clock of this machine (NTP): times that it shows are wrong',
    )
  }
  const { rows } = await sql<{
    latest: string | null
  }>`SELECT max(updated_at) AS latest FROM (SELECT updated_at FROM ${tables('runs')} ORDER BY id DESC LIMIT 1000)`.execute(durably.db)
  const aheadMs = rows[0]?.latest ? Date.parse(rows[0].latest) - nowMs : 0
  if (aheadMs <= DIFFERENCE_MS_MAX) return ok('clock', 'no run was written in the future')
  return warn(
    'clock',
    `a run was last written ${Math.round(aheadMs / 1000)} s in the future: the clock was set back, or another machine has another time`,
    'let all processes of a SQLite file run on one machine, and set its clock by NTP',
  )
}
