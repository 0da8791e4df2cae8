import { sql } from 'kysely'
import type { RunStore } from '../../runs.ts'
import type { SqlDeps } from './deps.ts'
import { isActive } from './guards.ts'

export function wasAlive({ statement, session, tables: t }: SqlDeps): RunStore['wasAlive'] {
  const update = statement<{ runId: string; generation: number; token: string }>(
    (p) => sql`UPDATE ${t.runs} AS r SET recoveries = r.recoveries - 1
      WHERE r.id = ${p('runId')} AND r.recoveries > 0 AND ${isActive()}
        AND r.lease_generation >= ${p('generation')} AND coalesce(r.lease_owner, '') <> ${p('token')}`,
  )
  return async ({ runId, generation, token }) => {
    await session.write([update({ runId, generation, token })])
  }
}
