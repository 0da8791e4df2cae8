// Owner writes as a batch without branching: events, log lines, the step, and last the guarded update of the run.
//   A1. A write takes effect as a whole or not at all, and a refused one fails alone: every statement carries the fence,
//       and the write number stays old until the last one.
//   A2. What a step does to the guard of its own write (its name is taken now) must not count, so only the events ask
//       whether it is new, and the rest asks whether the events are there.
//   A3. The transaction holds SQLite's write lock from its start, so nothing moves between the statements.
//   A4. A write whose update returned nothing is looked at once more: it was refused, or applied before (W2).
import type { CompiledQuery } from 'kysely'
import type { OwnerWrite, WriteOutcome } from '../../owner-write.ts'
import type { RunStore } from '../../runs.ts'
import type { SqlContext } from '../context.ts'
import type { Row } from '../session.ts'
import { type OwnerStatements, ownerStatements } from './owner-statements.ts'
import { valuesOf, type WriteValues } from './owner-values.ts'

interface Member {
  position: number
  values: WriteValues
  queries: CompiledQuery[]
  /** Where among its queries the update of the run stands. */
  update: number
}

export function applyWrites({ session, env, ...context }: SqlContext): RunStore['apply'] {
  const statements = ownerStatements({ session, env, ...context })

  return async (writes) => {
    const members = inRunOrder(writes).map(([position, write]) => member(statements, position, write, valuesOf(write, env)))
    const results = await session.write(members.flatMap(({ queries }) => queries))
    const outcomes: WriteOutcome[] = []
    let first = 0
    for (const { position, values, queries, update } of members) {
      const [accepted] = results[first + update] ?? []
      first += queries.length
      outcomes[position] = outcome(accepted ?? (await session.read(statements.appliedBefore(values)))[0])
    }
    return outcomes
  }
}

function member(statements: OwnerStatements, position: number, { verb }: OwnerWrite, values: WriteValues): Member {
  const { events, logs, update } = statements.of(verb)
  const before: CompiledQuery[] = []
  if (values.eventCount > 0) before.push(events(values))
  if (values.logCount > 0) before.push(logs(values))
  if (verb.type === 'recordStep') before.push(statements.step(values))
  return { position, values, queries: [...before, update(values)], update: before.length }
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
