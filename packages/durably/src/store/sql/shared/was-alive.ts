import { sql } from 'kysely'
import type { Claim } from '../../owner-write.ts'
import type { SqlDeps } from './deps.ts'
import { isActive } from './guards.ts'

/** It is sent so rarely that it is compiled each time. */
export async function wasAlive({ statement, session, tables: t }: SqlDeps, { runId, generation, token }: Claim): Promise<void> {
  const update = statement<{ runId: string; generation: number; token: string }>(
    (p) => sql`UPDATE ${t.runs} AS r SET recoveries = r.recoveries - 1
      WHERE r.id = ${p('runId')} AND r.recoveries > 0 AND ${isActive()}
        AND r.lease_generation >= ${p('generation')} AND coalesce(r.lease_owner, '') <> ${p('token')}`,
  )
  await session.write([update({ runId, generation, token })])
}
