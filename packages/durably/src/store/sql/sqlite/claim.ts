// A claim as three statements: the update, the events of what it claimed, and a read of that. With RETURNING the update would take twice as long (A4 in apply.ts).
import { type RawBuilder, sql } from 'kysely'
import type { RunStore } from '../../runs.ts'
import { type ClaimValues, claimRequestValues, heldUnder, inTurn, isKeyFree, newLease, startEvents, turnOfKey } from '../shared/claim.ts'
import type { SqlDeps } from '../shared/deps.ts'
import { canMove } from '../shared/guards.ts'
import type { Param } from '../shared/statement.ts'
import { isKeyTaken } from './classify-error.ts'
import { RUN_TEXT, runOfText } from './run-text.ts'

/** A lost race means that someone else got a run, so a few suffice. */
const RACES_MAX = 5

/** How many runs are chosen. For one there is no turn to wait for, and no list: SQLite would make a table in memory for each of them. */
interface Choice {
  turn: RawBuilder<unknown>
  among: RawBuilder<unknown>
}
const ONE: Choice = { turn: sql`1`, among: sql`=` }
const MANY: Choice = { turn: turnOfKey, among: sql`IN` }

/** What a claim chooses from, as `c.id`, `c.run_at` and `turn`. */
type Candidates = (deps: SqlDeps, p: Param<ClaimValues>, choice: Choice) => RawBuilder<unknown>

/**
 * `also`: a further condition of the run `p`. The first claimable runs of each job by `runs_pick`, then the oldest of these: the backlog is never sorted. For a bare parameter
 * after LIMIT SQLite would prepare the statement again each time that it is bound, hence the plus.
 */
function dueRuns({ tables: t, syntax }: SqlDeps, p: Param<ClaimValues>, { turn, among }: Choice, also = sql``): RawBuilder<unknown> {
  return sql`SELECT c.id, c.run_at, ${turn} AS turn FROM ${syntax.texts(p('jobs'))} AS job CROSS JOIN ${t.runs} AS c WHERE c.id ${among} (
      SELECT p.id FROM ${t.runs} AS p ${syntax.by(t.index('runs_pick'))}
      WHERE p.status = 'pending' AND p.job_name = job.value AND p.run_at <= ${p('now')} AND ${isKeyFree(t, syntax)}${also}
      ORDER BY p.run_at, p.id LIMIT +${p('candidates')})`
}

export function claimRuns(deps: SqlDeps, candidates: Candidates = dueRuns): RunStore['claim'] {
  const { statement, session, env, tables: t, into, syntax, eventLog } = deps
  /** The plus before the status keeps SQLite from going through all that is pending instead of the few that were picked. */
  const isNew = (p: Param<ClaimValues>) =>
    sql`+${canMove('claim')} AND NOT EXISTS (SELECT 1 FROM ${heldUnder(deps, p('tokens'), sql`held`)})`
  /** Each run takes the token of its place. Joined as rows, all tokens would be read once for each run. */
  const claimMany = statement<ClaimValues>(
    (p) => sql`UPDATE ${t.runs} AS r SET ${newLease(deps, p, sql`(${p('tokens')} ->> picked.place)`, p('now'))}
      FROM (SELECT id, row_number() OVER (ORDER BY run_at, id) - 1 AS place FROM (${candidates(deps, p, MANY)}) WHERE turn = 1) AS picked
      WHERE r.id = picked.id AND picked.place < ${syntax.count(p('tokens'))} AND ${isNew(p)}`,
  )
  const claimOne = statement<ClaimValues>(
    (p) => sql`UPDATE ${t.runs} AS r SET ${newLease(deps, p, sql`(${p('tokens')} ->> 0)`, p('now'))}
      WHERE r.id = (SELECT id FROM (${candidates(deps, p, ONE)}) ORDER BY run_at, id LIMIT 1) AND ${isNew(p)}`,
  )
  /** A run that was written since was claimed by an earlier sending. */
  const started = statement<ClaimValues>((p) => {
    const claimed = sql`(SELECT r.* FROM ${heldUnder(deps, p('tokens'), sql`r`)} AND r.lease_writes = 0) AS r`
    return sql`INSERT INTO ${into.events} ${startEvents(deps, claimed, p)}
      ON CONFLICT DO NOTHING`
  })

  /** Also what an earlier sending of this claim has claimed (S3). */
  const held = statement<ClaimValues>((p) => sql`SELECT ${RUN_TEXT} FROM ${heldUnder(deps, p('tokens'), sql`r`)}`)

  return async (request) => {
    for (let races = 1; ; races++) {
      try {
        const values = claimRequestValues(request, env.wall())
        const claim = request.tokens.length === 1 ? claimOne : claimMany
        const events = eventLog ? [started(values)] : []
        const answers = await session.write([claim(values), ...events, held(values)], 'urgent')
        return inTurn(answers.at(-1) ?? [], runOfText)
      } catch (error) {
        if (races === RACES_MAX || !isKeyTaken(error)) throw error
      }
    }
  }
}

/** For code that is loaded lazily and claims runs in its own way (see `LazyDeps`). */
export const claims = { claimRuns, dueRuns, isKeyFree, turnOfKey }
export type Claims = typeof claims
