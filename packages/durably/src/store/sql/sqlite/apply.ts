// Owner writes as a batch without branching: the guarded update of the run, then what goes with it. The statements, and their order, are in
// owner-statements.ts; the reasons are here.
//   A1. A write takes effect as a whole or not at all, and a refused one fails alone: each statement after the update runs only if
//       changes() > 0, that is, if the statement before it wrote at least one row. Of these the log lines go last, because if all of them
//       are known already, they write nothing.
//   A2. When a step of `ctx.stream` is recorded, the events of its chunks are deleted (`forgetStream`). That comes after the log lines, so
//       it cannot ask changes(): it looks for the event of this record instead. The transaction holds SQLite's write lock from its start,
//       so nothing changes between the statements.
//       A database that can write several tables in one statement needs none of this (../postgres/apply.ts).
//   A3. If the update of a write returned nothing, one more read shows whether the write was refused or had been applied before (W2).
import { type CompiledQuery, sql } from 'kysely'
import type { WriteOutcome } from '../../owner-write.ts'
import type { RunStore } from '../../runs.ts'
import type { SqlDeps } from '../shared/deps.ts'
import { cancelOf } from '../shared/guards.ts'
import { outcomeOf, wasApplied } from '../shared/owner-moves.ts'
import { valuesOf, type WriteValues } from '../shared/owner-values.ts'
import type { Session } from '../shared/session.ts'
import { ownerQueries } from './owner-statements.ts'

interface PreparedWrite {
  values: WriteValues
  queries: CompiledQuery[]
}

export function applyWrites(deps: SqlDeps): RunStore['apply'] {
  const { statement, session, tables: t } = deps
  const queriesOf = ownerQueries(deps)
  const appliedBefore = statement<WriteValues>(
    (p) => sql`SELECT ${cancelOf(t)} AS cancel_requested_at FROM ${t.runs} AS r WHERE ${wasApplied(deps, p)}`,
  )

  return async (writes) => {
    const members: PreparedWrite[] = writes.map((write) => {
      const values = valuesOf(write, deps)
      return { values, queries: queriesOf(write, values) }
    })
    const results = await session.write(
      members.flatMap(({ queries }) => queries),
      'urgent',
    )
    const outcomes: WriteOutcome[] = []
    let offset = 0
    for (const { values, queries } of members) {
      // The first statement of a write is its guarded update, which returns a row if the write is accepted.
      const [accepted] = results[offset] ?? []
      offset += queries.length
      outcomes.push(accepted ? outcomeOf(accepted) : await lookAgain(session, appliedBefore(values)))
    }
    return outcomes
  }
}

/** A3. Not accepted if there is no such row. */
async function lookAgain(session: Session, query: CompiledQuery): Promise<WriteOutcome> {
  const [run] = await session.read(query, 'urgent')
  return outcomeOf(run)
}
