// A claim as one statement, for as many runs as there are tokens.
//   C1. A claim locks only the runs that it takes, and skips candidates that another claim has locked. So no claim skips a run that
//       nobody takes.
//   C2. Two claims can pick two runs of the same free key. The unique index of running keys accepts one of them; the other claim fails
//       as a whole, and asks again for a single run, so that one taken key does not cost it a whole group again. It still sends all its
//       tokens, because it may have met itself: a claim that was sent again while the first one was under way. All runs are locked before the
//       first of them gets its token, by the sort that numbers them: a claim that waits at a token for itself would leave runs to its other half.
//   C3. A claim can find all its candidates locked by others. If it took nothing although there were candidates, that is a lost race, not an
//       empty queue, and it tries again.
import { type RawBuilder, sql } from 'kysely'
import type { RunRow } from '../../../model/run.ts'
import type { ClaimRequest, RunStore } from '../../runs.ts'
import {
  type ClaimValues,
  claimRequestValues,
  inTurn,
  isKeyFree,
  newLease,
  SPARE_CANDIDATES,
  startEvents,
  turnOfKey,
} from '../shared/claim.ts'
import type { SqlDeps } from '../shared/deps.ts'
import { canMove } from '../shared/guards.ts'
import type { Param, Statement } from '../shared/statement.ts'
import { CLAIMED_RUN, claimedRun } from './claimed-run.ts'
import { isKeyTaken } from './classify-error.ts'

/** After so many lost races a claim returns no runs: other processes work through the queue faster. */
const RACES_MAX = 8

interface LimitedValues extends ClaimValues {
  wanted: number
}

/** `also`: a further condition of the run `p`. The first claimable runs of each job by `runs_pick`, then the oldest of these: the backlog is never sorted. */
function dueRuns({ tables: t, syntax }: SqlDeps, p: Param<ClaimValues>, most: RawBuilder<unknown>, also = sql``): RawBuilder<unknown> {
  return sql`SELECT c.id, c.run_at, ${turnOfKey} AS turn FROM ${syntax.texts(p('jobs'))} AS job CROSS JOIN LATERAL (
          SELECT p.id, p.run_at, p.concurrency_key FROM ${t.runs} AS p
          WHERE p.status = 'pending' AND p.job_name = job.value AND p.run_at <= ${syntax.now(p)} AND ${isKeyFree(t, syntax)}${also}
          ORDER BY p.run_at, p.id LIMIT ${most}) AS c
        WHERE NOT EXISTS (SELECT 1 FROM mine)`
}

/** `candidates`: what a claim chooses from, as `id`, `run_at` and `turn`. */
export function claimRuns(deps: SqlDeps, candidates = dueRuns): RunStore['claim'] {
  const { session, env } = deps
  const compiled = new Map<number, Statement<LimitedValues>>()

  /** With the limit as a part of the text Postgres keeps the plan. Sizes are rounded up, so that there are few texts. */
  function claimUpTo(wanted: number): Statement<LimitedValues> {
    const size = 2 ** Math.ceil(Math.log2(wanted))
    const known = compiled.get(size) ?? claimStatement(deps, size + SPARE_CANDIDATES, candidates)
    compiled.set(size, known)
    return known
  }

  async function attempt(request: ClaimRequest, wanted: number): Promise<RunRow[] | 'lost race'> {
    try {
      const values = { ...claimRequestValues(request, env.wall()), wanted }
      const [rows = []] = await session.write([claimUpTo(wanted)(values)], 'urgent')
      const claimed = rows.filter(({ id }) => id !== null)
      return claimed.length === 0 && rows[0]?.contested ? 'lost race' : inTurn(claimed, claimedRun)
    } catch (error) {
      if (isKeyTaken(error)) return 'lost race'
      throw error
    }
  }

  return async (request) => {
    if (request.tokens.length === 0) return []
    for (let races = 0; races < RACES_MAX; races++) {
      const claimed = await attempt(request, races === 0 ? request.tokens.length : 1)
      if (claimed !== 'lost race') return claimed
    }
    return []
  }
}

function claimStatement(deps: SqlDeps, candidatesMax: number, candidatesOf: typeof dueRuns): Statement<LimitedValues> {
  const { statement, tables: t, into, syntax, eventLog } = deps
  const most = sql.lit(candidatesMax)
  return statement<LimitedValues>((p) => {
    const candidates = sql`
      SELECT id, run_at FROM (${candidatesOf(deps, p, most)}) AS first_of_key
      WHERE turn = 1 ORDER BY run_at, id LIMIT ${most}`
    const events = eventLog ? sql`, started AS (INSERT INTO ${into.events} ${startEvents(deps, sql`claimed AS r`, p)})` : sql``
    return sql`${syntax.clock(p)},
      tokens AS MATERIALIZED (SELECT ARRAY(SELECT json_array_elements_text(${p('tokens')}::json)) AS list),
      mine AS MATERIALIZED (SELECT ${CLAIMED_RUN} FROM tokens CROSS JOIN unnest(tokens.list) AS token
        CROSS JOIN LATERAL (SELECT * FROM ${t.runs} WHERE lease_owner = token LIMIT 1) AS r),
      candidates AS MATERIALIZED (${candidates}),
      picked AS MATERIALIZED (
        SELECT r.id, c.run_at FROM candidates AS c JOIN ${t.runs} AS r ON r.id = c.id
        WHERE ${canMove('claim')} ORDER BY c.run_at, c.id LIMIT ${p('wanted')}::bigint ${syntax.skipLocked}),
      given AS (SELECT id AS given_id, (SELECT list FROM tokens)[row_number() OVER (ORDER BY run_at, id)] AS given_token FROM picked),
      claimed AS (
        UPDATE ${t.runs} AS r SET ${newLease(deps, p, sql`given_token`, syntax.now(p))} FROM given WHERE r.id = given_id RETURNING ${CLAIMED_RUN})
      ${events}
      SELECT race.*, run.* FROM (SELECT EXISTS (SELECT 1 FROM candidates) AS contested) AS race
      LEFT JOIN (SELECT * FROM claimed UNION ALL SELECT * FROM mine) AS run ON true`
  })
}

/** For code that is loaded lazily and claims runs in its own way (see `LazyDeps`). */
export const claims = { claimRuns, dueRuns, isKeyFree, turnOfKey }
export type Claims = typeof claims
