import { sql } from 'kysely'
import type { RunStore } from '../../runs.ts'
import type { SqlContext } from './deps.ts'
import { isActive } from './guards.ts'
import { statement } from './statement.ts'

export function wasAlive({ db, session, tables: t }: SqlContext): RunStore['wasAlive'] {
  const update = statement<{ runId: string; generation: number; token: string }>(
    db,
    (p) => sql`UPDATE ${t.runs} AS r SET recoveries = r.recoveries - 1
      WHERE r.id = ${p('runId')} AND r.recoveries > 0 AND ${isActive()}
        AND r.lease_generation >= ${p('generation')} AND coalesce(r.lease_owner, '') <> ${p('token')}`,
  )
  return async ({ runId, generation, token }) => {
    await session.write([update({ runId, generation, token })])
  }
}
