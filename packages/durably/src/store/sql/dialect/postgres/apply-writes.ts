// Owner writes: one is one statement, and so are many, as long as no two are of the same run.
import { isSameRun, type OwnerWrite } from '../../../owner-write.ts'
import type { RunStore } from '../../../runs.ts'
import type { SqlContext } from '../../context.ts'
import { jsonRows } from '../../json-rows.ts'
import { outcomeOf } from '../../runs/apply.ts'
import { moveOf } from '../../runs/owner-moves.ts'
import { valuesOf, type WriteValues } from '../../runs/owner-values.ts'
import type { Row } from '../../session.ts'
import { OwnerStatements } from './owner-statement.ts'

interface Member {
  write: OwnerWrite
  values: WriteValues
}

export function applyWrites(context: SqlContext): RunStore['apply'] {
  const { session, env } = context
  const statements = new OwnerStatements(context)

  function queryOf(round: readonly Member[]) {
    const [first, ...others] = round
    if (first && others.length === 0) return statements.single(first.write, first.values)(first.values)
    const rows = round.map(({ write, values }, position) => ({ position, move: moveOf(write.verb), ...values }))
    const group = statements.group(
      round.map(({ write }) => write),
      round.map(({ values }) => values),
    )
    return group({ writes: jsonRows(rows), now: env.wall() })
  }

  function appliedBefore(refused: readonly Member[]) {
    const rows = refused.map(({ values: { runId, generation, token, number, stepId } }, position) => ({
      position,
      runId,
      generation,
      token,
      number,
      stepId,
    }))
    return statements.applied({ writes: jsonRows(rows), now: env.wall() })
  }

  return async (writes) => {
    const members = writes.map((write) => ({ write, values: valuesOf(write, env) }))
    const rounds = roundsOf(members)
    const results = await session.write(rounds.map(queryOf))
    const found = new Map<Member, Row>()
    rounds.forEach((round, i) => {
      note(found, round, results[i] ?? [])
    })
    const refused = members.filter((member) => !found.has(member))
    if (refused.length > 0) note(found, refused, await session.read(appliedBefore(refused)))
    return members.map((member) => outcomeOf(found.get(member)))
  }
}

function note(found: Map<Member, Row>, asked: readonly Member[], rows: readonly Row[]): void {
  for (const row of rows) {
    const member = asked[Number(row.position ?? 0)]
    if (member) found.set(member, row)
  }
}

/** A statement changes a row once, so the second write of a run goes into the second round. */
function roundsOf(members: readonly Member[]): Member[][] {
  const rounds: Member[][] = []
  for (const member of members) {
    const last = rounds.findLastIndex((round) => round.some(({ write }) => isSameRun(write, member.write)))
    const round = rounds[last + 1]
    if (round) round.push(member)
    else rounds.push([member])
  }
  return rounds
}
