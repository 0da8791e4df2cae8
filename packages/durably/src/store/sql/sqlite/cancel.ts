// A cancel reaches a run and those below it in one transaction. The statements before the update read the rows as they were.
import { sql } from 'kysely'
import type { RunStore } from '../../runs.ts'
import { afterwards, entryValues } from '../shared/audit.ts'
import { canBeStopped, cancelOutcome, family, stopped } from '../shared/cancel.ts'
import { type ClientValues, clientValues } from '../shared/client-moves.ts'
import { versionOfRun } from '../shared/command-guards.ts'
import { canMove, eventType, isActive } from '../shared/guards.ts'
import type { LazyDeps } from '../shared/lazy-deps.ts'
import type { Param } from '../shared/statement.ts'

type P = Param<ClientValues>

export function cancelRuns(deps: LazyDeps): RunStore['cancel'] {
  const { statement, session, env, tables: t, into, eventLog, runRow, awokenParent } = deps
  /** Those that will end. */
  const ending = (p: P) => sql`SELECT r.id, r.parent_run_id FROM (${family(t, p)}) AS r WHERE ${canMove('cancel')}`
  const events = statement<ClientValues>(
    (p) => sql`INSERT INTO ${into.events}
      SELECT r.id, r.last_event_sequence + 1, ${eventType('cancel')}, '{}', ${p('at')} FROM (${ending(p)}) AS ending CROSS JOIN ${t.runs} AS r WHERE r.id = ending.id`,
  )
  const parents = statement<ClientValues>(
    (p) => sql`UPDATE ${t.runs} AS r SET ${awokenParent(p('now'), sql`ended.count`)}
      FROM (SELECT parent_run_id, count(*) AS count FROM (${ending(p)}) GROUP BY 1) AS ended
      WHERE r.id = ended.parent_run_id AND ${isActive()} AND r.id NOT IN (SELECT id FROM (${ending(p)}))`,
  )
  const update = statement<ClientValues>(
    (p) => sql`UPDATE ${t.runs} AS r SET ${stopped(p, p('now'))} FROM (${family(t, p)}) AS family
      WHERE r.id = family.id AND ${canBeStopped} RETURNING id, job_name, status`,
  )
  const select = statement<{ id: string }>((p) => sql`SELECT * FROM ${t.runs} WHERE id = ${p('id')}`)

  const record = afterwards(deps, versionOfRun(t))

  return async (id, options = {}) => {
    const values = clientValues(id, options, env.wall())
    const before = [...(eventLog ? [events(values)] : []), parents(values)]
    const entry = options.audit ? record(entryValues(options.audit, null, values.now)) : []
    const answers = await session.write([...before, update(values), ...entry, select(values)])
    const found = answers.at(-1)?.[0]
    return found ? cancelOutcome(runRow(found), answers.at(before.length) ?? [], options) : null
  }
}
