// Signals. A run that is parked for one is due at once; one that runs learns of it when it wants to park.
//   N3. The run's row counts its signals: a run that parks says how many it has seen, so none is missed.
//   N4. The run is locked first, by a statement of its own: what comes after it sees every signal that was sent before.
import { sql } from 'kysely'
import type { RunStatus } from '../../../model/run.ts'
import { isTerminal } from '../../../model/run.ts'
import type { SignalRow } from '../../../model/signal.ts'
import type { SignalStore } from '../../signals.ts'
import { recorded } from './audit.ts'
import type { SqlDeps } from './deps.ts'
import { isActive } from './guards.ts'
import type { LazyDeps } from './lazy-deps.ts'
import type { Param } from './statement.ts'

type SendValues = { id: string; runId: string; name: string; value: string | null; createdAt: string; now: number }

/** The run `r` is parked for a signal of this name. */
function isParkedFor({ syntax }: Pick<SqlDeps, 'syntax'>, p: Param<SendValues>) {
  return sql`r.status = 'pending' AND EXISTS (SELECT 1 FROM ${syntax.elements(sql`coalesce(r.waiting_for, '[]')`)} AS e
    WHERE e.value ->> 'kind' = 'signal' AND e.value ->> 'name' = ${p('name')})`
}

export function sqlSignals(deps: LazyDeps): SignalStore {
  const { statement, session, env, tables: t, syntax, reader } = deps
  const lock = statement<SendValues>((p) => sql`SELECT r.id FROM ${t.runs} AS r WHERE r.id = ${p('runId')} ${syntax.lock}`)
  const count = statement<SendValues>(
    (p) => sql`${syntax.clock(p)} UPDATE ${t.runs} AS r SET signals = signals + 1,
        run_at = CASE WHEN ${isParkedFor(deps, p)} AND r.run_at > ${syntax.now(p)} THEN ${syntax.now(p)} ELSE r.run_at END
      WHERE r.id = ${p('runId')} AND ${isActive()}
        AND NOT EXISTS (SELECT 1 FROM ${t.signals} AS s WHERE s.run_id = r.id AND s.name = ${p('name')})`,
  )
  const insert = recorded<SendValues>(
    deps,
    (p) => sql`INSERT INTO ${t.signals} (id, run_id, name, value, created_at)
      SELECT ${p('id')}, r.id, ${p('name')}, ${p('value')}, ${p('createdAt')} FROM ${t.runs} AS r WHERE r.id = ${p('runId')} AND ${isActive()}
      ON CONFLICT DO NOTHING RETURNING id`,
  )
  const look = statement<SendValues>(
    (p) => sql`SELECT r.status, (SELECT s.id FROM ${t.signals} AS s WHERE s.run_id = r.id AND s.name = ${p('name')}) AS taken_by
      FROM ${t.runs} AS r WHERE r.id = ${p('runId')}`,
  )
  const list = statement<{ runId: string }>((p) => sql`SELECT * FROM ${t.signals} WHERE run_id = ${p('runId')} ORDER BY created_at, name`)

  return {
    async send(signal: SignalRow, options) {
      const values = { ...signal, now: env.wall() }
      const results = await session.write([lock(values), count(values), ...insert(values, options), look(values)])
      const row = results.at(-1)?.[0]
      if (!row) return null
      if (row.taken_by === signal.id) return 'accepted'
      return row.taken_by === null && isTerminal(row.status as RunStatus) ? 'ended' : 'taken'
    },
    list: async (runId) => (await session.read(list({ runId }))).map((row) => signalOf(reader('signal', row.id, row))),
  }
}

function signalOf(read: ReturnType<LazyDeps['reader']>): SignalRow {
  return {
    id: read.text('id'),
    runId: read.text('run_id'),
    name: read.text('name'),
    value: read.textOrNull('value'),
    createdAt: read.text('created_at'),
  }
}
