// What retry and delete of all databases have in common.
import { type RawBuilder, sql } from 'kysely'
import { iso } from '../../../model/env.ts'
import type { RunRow, RunStatus } from '../../../model/run.ts'
import type { Changed, DeleteOutcome, IfVersion, RetryOutcome } from '../../runs.ts'
import type { Row } from './session.ts'

export interface GuardValues {
  id: string
  ifVersion: number | null
}

export interface ClientValues extends GuardValues {
  now: number
  at: string
}

/**
 * What a retry changes, beside the status and the counters. A deadline that is over would only let it fail again.
 * A failed run has no lease. It is taken away all the same: Postgres checks the new row once as it follows from the row of before it
 * waited for the lock, and that one may have been running.
 */
export function retried(now: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`error = NULL, failure = NULL, reason = NULL, output = NULL, finished_at = NULL, cancel_requested_at = NULL, recoveries = 0, attempts = 0,
      retry_generation = lease_generation, deadline_at = CASE WHEN deadline_at > ${now} THEN deadline_at END, lease_owner = NULL, lease_expires_at = NULL`
}

export function clientValues(id: string, { ifVersion }: IfVersion, now: number): ClientValues {
  return { id, ifVersion: ifVersion ?? null, now, at: iso(now) }
}

/** Whether a run was left unchanged because it has another version. */
export function changed(version: number, { ifVersion }: IfVersion): Changed | null {
  return ifVersion !== undefined && version !== ifVersion ? { outcome: 'changed', version } : null
}

/** `row`: as it is after the retry, or as it was left; `undefined` when there is none. */
export function retryOutcome(row: RunRow | undefined, isRetried: boolean, options: IfVersion): RetryOutcome | Changed | null {
  if (!row) return null
  if (isRetried) return { outcome: 'retried', run: row }
  return changed(row.version, options) ?? { outcome: 'refused', run: row }
}

/** `run`: its status and version. Not the whole row: one that cannot be read can still be deleted. */
export function deleteOutcome(run: Row | undefined, isDeleted: boolean, options: IfVersion): DeleteOutcome | Changed | null {
  if (!run) return null
  const status = run.status as RunStatus
  if (isDeleted) return { outcome: 'deleted', status }
  return changed(Number(run.version), options) ?? { outcome: 'refused', status }
}
