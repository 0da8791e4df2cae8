// Looks at a database as a whole: each check says what it found, and what to do.
import type { Durably } from '@coji/durably'
import { sql } from 'kysely'
import type { Place } from '../place.ts'
import { checkBloat, checkRetention } from './bloat.ts'
import { checkClock } from './clock.ts'
import { checkConnections } from './connections.ts'
import { checkCrashLoops, checkFailed } from './failed.ts'
import { type Check, type Finding, patientOf, warn } from './finding.ts'
import { checkHeldKeys } from './held-keys.ts'
import { checkNotifications } from './notifications.ts'
import { checkSchedules } from './schedules.ts'
import { checkSchema } from './schema.ts'
import { checkCancelling, checkDecisions, checkLost } from './stuck.ts'
import { checkUnattended } from './unattended.ts'
import { checkWaiting } from './waiting.ts'
import { checkWorkers } from './workers.ts'

const CHECKS: readonly [name: string, check: Check][] = [
  ['clock', checkClock],
  ['workers', checkWorkers],
  ['due runs', checkUnattended],
  ['held keys', checkHeldKeys],
  ['lost workers', checkLost],
  ['decisions', checkDecisions],
  ['cancelled runs', checkCancelling],
  ['waiting runs', checkWaiting],
  ['failed runs', checkFailed],
  ['crash loops', checkCrashLoops],
  ['schedules', checkSchedules],
  ['notifications', checkNotifications],
  ['connections', checkConnections],
  ['bloat', checkBloat],
  ['old runs', checkRetention],
]

export async function* examine(place: Place, open: () => Durably): AsyncGenerator<Finding> {
  const schema = await checkSchema(place)
  yield schema
  if (schema.state === 'bad') return
  await using durably = open()
  const patient = patientOf(durably, place, await timeOf(durably, place))
  for (const [name, check] of CHECKS) {
    yield await check(patient).catch((error: unknown) =>
      // A user without the right to look at something still learns the rest.
      warn(
        name,
        `could not be looked at: ${error instanceof Error ? error.message : String(error)}`,
        'try again as a user with more rights',
      ),
    )
  }
}

async function timeOf(durably: Durably, { kind, now }: Place): Promise<number> {
  if (kind === 'sqlite') return now()
  const { rows } = await sql<{ now: string }>`SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now`.execute(durably.db)
  return Math.round(Number(rows[0]?.now))
}
