// Owner writes as a batch without branching: events, log lines, the step, and last the guarded update of the run.
//   A1. A write takes effect as a whole or not at all, and a refused one fails alone: every statement carries the fence,
//       and the write number stays old until the last one.
//   A2. What a step does to the guard of its own write (its name is taken now) must not count, so only the events ask
//       whether it is new, and the rest asks whether the events are there.
//   A3. The transaction holds SQLite's write lock from its start, so nothing moves between the statements.
//       A database that can write several tables in one statement needs none of this (dialect/postgres/owner-statement.ts).
//   A4. A write whose update returned nothing is looked at once more: it was refused, or applied before (W2).
import type { CompiledQuery } from 'kysely'
import type { OwnerWrite, WriteOutcome } from '../../owner-write.ts'
import type { RunStore } from '../../runs.ts'
import type { SqlContext } from '../context.ts'
import type { Row } from '../session.ts'
import { appliedBefore } from './owner-moves.ts'
import { ownerStatements, type QueriesOf } from './owner-statements.ts'
import { valuesOf, type WriteValues } from './owner-values.ts'

interface Member {
  position: number
  values: WriteValues
  queries: CompiledQuery[]
}

export function applyWrites(context: SqlContext, queriesOf: QueriesOf = ownerStatements(context)): RunStore['apply'] {
  const { session, env } = context
  const lookAgain = appliedBefore(context)

  return async (writes) => {
    const members: Member[] = inRunOrder(writes).map(([position, write]) => {
      const values = valuesOf(write, env)
      return { position, values, queries: queriesOf(write, values) }
    })
    const results = await session.write(members.flatMap(({ queries }) => queries))
    const outcomes: WriteOutcome[] = []
    let first = 0
    for (const { position, values, queries } of members) {
      first += queries.length
      const [accepted] = results[first - 1] ?? []
      outcomes[position] = outcome(accepted ?? (await session.read(lookAgain(values)))[0])
    }
    return outcomes
  }
}

/** Everywhere the same order, so that databases with row locks cannot deadlock; writes of one run keep theirs. */
function inRunOrder(writes: readonly OwnerWrite[]): [number, OwnerWrite][] {
  const numbered = [...writes.entries()]
  return writes.length < 2 ? numbered : numbered.sort(([, a], [, b]) => compare(a.claim.runId, b.claim.runId))
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

function outcome(run: Row | undefined): WriteOutcome {
  return run ? { ok: true, cancelRequested: run.cancel_requested_at !== null } : { ok: false }
}
