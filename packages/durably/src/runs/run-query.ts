// Turns a filter into a query of the store, and reads rare options of `trigger`. It is loaded when it is first used (ADR 0009).
import { checkFilter, isByEnd } from '../model/check-filter.ts'
import { phasesOf } from '../model/cluster-state.ts'
import { DurablyError } from '../model/errors.ts'
import { isUlid } from '../model/is-ulid.ts'
import { checkName } from '../model/name.ts'
import type { Phase } from '../model/phase.ts'
import { readTime } from '../model/read-time.ts'
import type { RunConditions, RunFilter } from '../model/run-filter.ts'
import { monotonicUlids } from '../model/ulid.ts'
import type { RunPlace, RunQuery } from '../store/runs.ts'

export { countsByPhase } from './counts-by-phase.ts'
export { readRareOptions } from './rare-options.ts'

/** A limit, because each job is looked up in each status. */
const JOBS_MAX = 20

export function runQuery(filter: RunFilter): RunQuery {
  checkFilter(filter)
  const { limit, cursor, direction, values } = filter
  return {
    ...conditions(filter),
    ...(limit !== undefined && { limit }),
    ...(direction === 'previous' && { oldestFirst: true }),
    ...(values === false && { withoutValues: true }),
    ...(cursor !== undefined && { after: placeOf(cursor, isByEnd(filter)) }),
  }
}

function conditions(given: RunConditions): RunQuery {
  const { status, jobName, createdAfter, createdBefore, finishedAfter, finishedBefore } = given
  const { concurrencyKey, idempotencyKey, parentRunId, scheduleId, labels } = given
  return {
    ...(status !== undefined && { statuses: several('status', status) }),
    ...phases(given),
    ...(jobName !== undefined && { jobNames: jobNames(jobName) }),
    ...(createdAfter !== undefined && { fromId: firstIdAt(readTime('createdAfter', createdAfter)) }),
    ...(createdBefore !== undefined && { beforeId: firstIdAt(readTime('createdBefore', createdBefore)) }),
    ...(finishedAfter !== undefined && { finishedFrom: readTime('finishedAfter', finishedAfter) }),
    ...(finishedBefore !== undefined && { finishedBefore: readTime('finishedBefore', finishedBefore) }),
    ...(concurrencyKey !== undefined && { concurrencyKey: checkName('concurrencyKey', concurrencyKey) }),
    ...(idempotencyKey !== undefined && { idempotencyKey: checkName('idempotencyKey', idempotencyKey) }),
    ...(parentRunId !== undefined && { parentRunId: checkName('parentRunId', parentRunId) }),
    ...(scheduleId !== undefined && { scheduleId: checkName('scheduleId', scheduleId) }),
    ...(labels !== undefined && { labels }),
  }
}

function phases({ phase, clusterState }: RunConditions): { phases?: readonly Phase[]; timedOut?: boolean } {
  const named = phase === undefined ? undefined : several('phase', phase)
  if (clusterState === undefined) return named ? { phases: named } : {}
  const meant = phasesOf(several('clusterState', clusterState))
  return named ? { ...meant, phases: meant.phases.filter((one) => named.includes(one)) } : meant
}

function several<T extends string>(field: string, given: T | readonly T[]): T[] {
  const values = [...new Set([given].flat() as T[])]
  if (values.length === 0) throw new DurablyError('invalid_argument', `${field} must not be an empty list; leave it out to ask for all`)
  return values
}

function jobNames(given: string | readonly string[]): string[] {
  const names = several('jobName', given).map((name) => checkName('jobName', name))
  if (names.length > JOBS_MAX)
    throw new DurablyError(
      'invalid_argument',
      `jobName must be at most ${JOBS_MAX} names, got ${names.length}; ask for some of them at a time`,
    )
  return names
}

/** The ids of all runs that were created at this time or later are above it, or equal: `createdAt` is the time of the id (ADR 0003). */
function firstIdAt(ms: number): string {
  return ms === 0 ? '' : monotonicUlids(() => 0)(ms)
}

/** A cursor contains its place in the list, so it stays valid when its run is deleted or retried. */
function placeOf(cursor: string, byEnd: boolean): RunPlace {
  const [end, id] = byEnd ? [cursor.slice(0, -ID_LENGTH - 1), cursor.slice(-ID_LENGTH)] : ['', cursor]
  const finishedAt = Date.parse(end)
  if (isUlid(id) && (!byEnd || (Number.isFinite(finishedAt) && cursor.at(-ID_LENGTH - 1) === '/')))
    return byEnd ? { id, finishedAt } : { id }
  throw new DurablyError(
    'invalid_argument',
    byEnd
      ? `with finishedAfter or finishedBefore the cursor must be the finishedAt of a run, a slash and its id; got ${JSON.stringify(cursor)}`
      : `cursor must be the id of a run, got ${JSON.stringify(cursor)}`,
  )
}

const ID_LENGTH = 26
