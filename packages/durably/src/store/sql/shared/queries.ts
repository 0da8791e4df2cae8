import { sql } from 'kysely'
import type { RunStore } from '../../runs.ts'
import type { SqlDeps } from './deps.ts'
import { runRow } from './rows.ts'

export function runQueries({ statement, session, tables: t, syntax }: SqlDeps): Pick<RunStore, 'get' | 'held'> {
  const byId = statement<{ id: string }>((p) => sql`SELECT *${syntax.readAt} FROM ${t.runs} WHERE id = ${p('id')}`)
  const held = statement<Record<never, never>>(() => sql`SELECT lease_owner FROM ${t.runs} WHERE lease_owner IS NOT NULL`)
  return {
    async get(id) {
      const [row] = await session.read(byId({ id }))
      return row ? runRow(row) : null
    },
    held: async () => (await session.read(held({}))).map(({ lease_owner }) => String(lease_owner)),
  }
}
