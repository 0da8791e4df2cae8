// Retry and delete: what clients do to a run that has ended. In each batch the guards read the row as it was, and a read at its
// end shows what became of it.
import { sql } from 'kysely'
import type { RunStore } from '../../runs.ts'
import { afterwards, entryValues } from '../shared/audit.ts'
import { type ClientValues, clientValues, deleteOutcome, type GuardValues, retried, retryOutcome } from '../shared/client-moves.ts'
import { isDeletable, isRefused, isRetryable, isVersion, versionOfRun } from '../shared/command-guards.ts'
import { eventType, target } from '../shared/guards.ts'
import type { LazyDeps } from '../shared/lazy-deps.ts'

export function clientMoves(deps: LazyDeps): Pick<RunStore, 'retry' | 'delete'> {
  const { statement, session, env, tables: t, into, eventLog, runRow } = deps
  const forgetSignals = statement<ClientValues>(
    (p) => sql`DELETE FROM ${t.signals} AS s WHERE s.run_id = ${p('id')} AND ${isRefused(t)}
      AND EXISTS (SELECT 1 FROM ${t.runs} AS r WHERE r.id = s.run_id AND ${isRetryable(t)} AND ${isVersion(p)})`,
  )
  /** Reads the row as it was. */
  const event = statement<ClientValues>(
    (p) => sql`INSERT INTO ${into.events}
      SELECT r.id, r.last_event_sequence + 1, ${eventType('retry')}, '{}', ${p('at')} FROM ${t.runs} AS r WHERE r.id = ${p('id')} AND ${isRetryable(t)} AND ${isVersion(p)}`,
  )
  const retry = statement<ClientValues>(
    (p) => sql`UPDATE ${t.runs} AS r SET status = ${target('retry')}, ${retried(p('now'))},
        version = version + 1, last_event_sequence = last_event_sequence + 1, updated_at = ${p('at')}
      WHERE r.id = ${p('id')} AND ${isRetryable(t)} AND ${isVersion(p)} RETURNING id`,
  )
  const select = statement<{ id: string }>((p) => sql`SELECT * FROM ${t.runs} WHERE id = ${p('id')}`)

  /** Explicitly, because a connection may not enforce foreign keys. */
  const deleteChildren = [t.steps, t.logs, t.events, t.signals].map((table) =>
    statement<GuardValues>(
      (p) => sql`DELETE FROM ${table} WHERE run_id = ${p('id')}
        AND EXISTS (SELECT 1 FROM ${t.runs} AS r WHERE r.id = ${p('id')} AND ${isDeletable(t)} AND ${isVersion(p)})`,
    ),
  )
  const selectStatus = statement<{ id: string }>((p) => sql`SELECT status, version FROM ${t.runs} WHERE id = ${p('id')}`)
  const deleteRun = statement<GuardValues>(
    (p) => sql`DELETE FROM ${t.runs} AS r WHERE r.id = ${p('id')} AND ${isDeletable(t)} AND ${isVersion(p)} RETURNING id`,
  )

  const recordRetry = afterwards(deps, versionOfRun(t))
  const recordDelete = afterwards(deps)

  return {
    async retry(id, options = {}) {
      const values = clientValues(id, options, env.wall())
      const entry = options.audit ? recordRetry(entryValues(options.audit, null, values.now)) : []
      const before = [...(eventLog ? [event(values)] : []), forgetSignals(values)]
      const answers = await session.write([...before, retry(values), ...entry, select(values)])
      const found = answers.at(-1)?.[0]
      return retryOutcome(found && runRow(found), answers.at(before.length)?.[0] !== undefined, options)
    },

    async delete(id, options = {}) {
      const values = { id, ifVersion: options.ifVersion ?? null }
      const before = [selectStatus(values), ...deleteChildren.map((child) => child(values))]
      const entry = options.audit ? recordDelete(entryValues(options.audit, null, env.wall())) : []
      const answers = await session.write([...before, deleteRun(values), ...entry])
      return deleteOutcome(answers.at(0)?.[0], answers.at(before.length)?.[0] !== undefined, options)
    },
  }
}
