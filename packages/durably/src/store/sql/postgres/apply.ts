// Owner writes: a group of them is one statement, as long as no two of them change the same run.
import type { RunStore } from '../../runs.ts'
import type { SqlDeps } from '../shared/deps.ts'
import { endsRun, moveOf, outcomeOf } from '../shared/owner-moves.ts'
import { valuesOf } from '../shared/owner-values.ts'
import type { Row } from '../shared/session.ts'
import { OwnerStatements, type PreparedWrite } from './owner-statements.ts'

export function applyWrites(deps: SqlDeps): RunStore['apply'] {
  const { session, env } = deps
  const statements = new OwnerStatements(deps)

  function queryOf(round: readonly PreparedWrite[]) {
    const [first] = round
    if (first && round.length === 1) return statements.single(first)(first.values)
    return statements.group(round)(round, env.wall())
  }

  return async (writes) => {
    const members = writes.map((write) => ({ move: moveOf(write.verb), write, values: valuesOf(write, deps) }))
    const rounds = roundsOf(members)
    const results = await session.write(rounds.map(queryOf), 'urgent')
    const found = new Map<PreparedWrite, Row>()
    rounds.forEach((round, i) => {
      note(found, round, results[i] ?? [])
    })
    const refused = members.filter((member) => !found.has(member))
    if (refused.length > 0) note(found, refused, await session.read(statements.applied(refused, env.wall()), 'urgent'))
    return members.map((member) => outcomeOf(found.get(member)))
  }
}

function note(found: Map<PreparedWrite, Row>, asked: readonly PreparedWrite[], rows: readonly Row[]): void {
  for (const row of rows) {
    const member = asked[Number(row.position ?? 0)]
    if (member) found.set(member, row)
  }
}

/**
 * A statement changes a row once, so the second write of a run goes into the second round; so does the write of a parent whose child
 * ends in the first. Several children of one parent that end are counted together.
 */
function roundsOf(members: readonly PreparedWrite[]): PreparedWrite[][] {
  const rounds: PreparedWrite[][] = []
  for (const member of members) {
    const last = rounds.findLastIndex((round) =>
      round.some((other) => changesRun(other, member.values.runId) || changesRun(member, other.values.runId)),
    )
    const round = rounds[last + 1]
    if (round) round.push(member)
    else rounds.push([member])
  }
  return rounds
}

/** Whether the write changes this run: its own, or the parent of a run that ends. */
function changesRun({ move, values }: PreparedWrite, runId: string): boolean {
  return values.runId === runId || (values.parentRunId === runId && endsRun(move))
}
