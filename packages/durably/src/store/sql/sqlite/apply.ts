// Owner writes as a batch without branching: the guarded update of the run, then what goes with it. The statements, and their order, are in
// owner-statements.ts; the reasons are here.
//   A1. A write takes effect as a whole or not at all, and a refused one fails alone: each statement after the update runs only if
//       changes() > 0, that is, if the statement before it wrote at least one row. Of these the log lines go last, because if all of them
//       are known already, they write nothing.
//   A2. When a step of `ctx.stream` is recorded, the events of its chunks are deleted (`forgetStream`). That comes after the log lines, so
//       it cannot ask changes(): it looks for the event of this record instead. The transaction holds SQLite's write lock from its start,
//       so nothing changes between the statements.
//       A database that can write several tables in one statement needs none of this (../postgres/apply.ts).
//   A3. Whether a write was accepted, now or when it was sent before (W2), is read at the end of the batch: one that was refused has left no
//       trace.
//   A4. The update could say it itself with RETURNING. But for that SQLite makes a table in memory, and keeps a journal of the statement: it takes
//       twice as long, and more in a large batch. Reading a row costs a fraction of that.
import { type CompiledQuery, sql } from 'kysely'
import type { RunStore } from '../../runs.ts'
import type { SqlDeps } from '../shared/deps.ts'
import { cancelOf } from '../shared/guards.ts'
import { outcomeOf, wasApplied } from '../shared/owner-moves.ts'
import { valuesOf, type WriteValues } from '../shared/owner-values.ts'
import type { Row } from '../shared/session.ts'
import { ownerQueries } from './owner-statements.ts'

export function applyWrites(deps: SqlDeps): RunStore['apply'] {
  const { statement, session, tables: t } = deps
  const queriesOf = ownerQueries(deps)
  const applied = statement<WriteValues>(
    (p) => sql`SELECT ${cancelOf(t)} AS cancel_requested_at FROM ${t.runs} AS r WHERE ${wasApplied(deps, p)}`,
  )

  return async (writes) => {
    const queries: CompiledQuery[] = []
    const answers: CompiledQuery[] = []
    for (const write of writes) {
      const values = valuesOf(write, deps)
      queries.push(...queriesOf(write, values))
      answers.push(applied(values))
    }
    const results = await session.write([...queries, ...answers], 'urgent')
    return results.slice(queries.length).map(([run]: Row[]) => outcomeOf(run))
  }
}
