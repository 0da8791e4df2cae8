// Every migration, in order; the position is its version. Released ones are never edited.
import type { RawBuilder } from 'kysely'
import type { SqlDeps } from '../shared/deps.ts'
import { runsStepsLogsEvents } from './0001-runs-steps-logs-events.ts'
import { streams } from './0002-streams.ts'
import { retriesWaitsSignals } from './0003-retries-waits-signals.ts'
import { manualRetries } from './0004-manual-retries.ts'
import { stepsOfChildren } from './0005-steps-of-children.ts'
import { findRuns } from './0006-find-runs.ts'
import { labels } from './0007-labels.ts'
import { leadersSchedules } from './0008-leaders-schedules.ts'
import { archive } from './0009-archive.ts'
import { workers } from './0010-workers.ts'
import { fewerEventIndexes } from './0011-fewer-event-indexes.ts'
import { inboxSettings } from './0012-inbox-settings.ts'
import { heldKeys } from './0013-held-keys.ts'
import { audit } from './0014-audit.ts'
import { preferredWorkers } from './0015-preferred-workers.ts'
import { renewalsInNoIndex } from './0016-renewals-in-no-index.ts'
import { keysInTheOrderOfClaims } from './0017-keys-in-the-order-of-claims.ts'
import { fewerForeignKeys } from './0018-fewer-foreign-keys.ts'
import { runningRunsByStatus } from './0019-running-runs-by-status.ts'

export type Migration = (deps: Pick<SqlDeps, 'tables' | 'syntax'>) => RawBuilder<unknown>[]

export const MIGRATIONS: readonly Migration[] = [
  runsStepsLogsEvents,
  streams,
  retriesWaitsSignals,
  manualRetries,
  stepsOfChildren,
  findRuns,
  labels,
  leadersSchedules,
  archive,
  workers,
  fewerEventIndexes,
  inboxSettings,
  heldKeys,
  audit,
  preferredWorkers,
  renewalsInNoIndex,
  keysInTheOrderOfClaims,
  fewerForeignKeys,
  runningRunsByStatus,
]

/**
 * The oldest code that still works on the tables as a migration leaves them, as the number of migrations which that code knows. It is stored
 * with the migration, so that processes of both versions can share the database: in a rolling restart, and after a rollback. A
 * migration may be listed if it only adds tables, columns with a default or NULL, and indexes that refuse nothing new, drops indexes that no
 * statement of that code names, or lets a trigger do what a constraint did. Others need their own code.
 */
export const OLDEST_CODE: { readonly [version: number]: number } = {
  6: 5,
  7: 5,
  8: 5,
  9: 5,
  10: 5,
  11: 5,
  12: 5,
  13: 5,
  14: 5,
  15: 5,
  16: 5,
  17: 5,
  18: 5,
  19: 5,
}
