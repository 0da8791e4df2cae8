import { sql } from 'kysely'
import type { DefinitionQuery, DefinitionStore } from '../../cluster/definitions.ts'
import type { LazyDeps } from './lazy-deps.ts'

export function sqlDefinitions(deps: LazyDeps): DefinitionStore {
  const { statement, db, session, env, tables: t, syntax, reader, jsonRows } = deps
  const upsert = statement<{ rows: string; now: number }>(
    (p) => sql`${syntax.clock(p)} INSERT INTO ${t.definitions} AS d (name, input, subscriptions, version, updated_at)
      SELECT e.value ->> 0, e.value ->> 1, e.value ->> 2, 1, ${syntax.now(p)} FROM ${syntax.elements(p('rows'))} AS e WHERE true
      ON CONFLICT (name) DO UPDATE SET input = excluded.input, subscriptions = excluded.subscriptions, version = d.version + 1, updated_at = excluded.updated_at
      WHERE coalesce(d.input, '') <> coalesce(excluded.input, '') OR coalesce(d.subscriptions, '') <> coalesce(excluded.subscriptions, '')`,
  )
  const remove = statement<{ name: string }>((p) => sql`DELETE FROM ${t.definitions} WHERE name = ${p('name')} RETURNING name`)

  return {
    async findDefinitions(query) {
      const rows = await session.read(findQuery(deps, query).compile(db))
      return rows.map((row) => {
        const read = reader('job definition', row.name, row)
        return {
          name: read.text('name'),
          input: read.textOrNull('input'),
          subscriptions: read.textOrNull('subscriptions'),
          version: read.integer('version'),
          updatedAt: read.integer('updated_at'),
        }
      })
    },
    async putDefinitions(definitions) {
      // In one order, so that two processes that start at once wait for each other instead of meeting in a deadlock.
      const sorted = definitions.toSorted((a, b) => (a.name < b.name ? -1 : 1))
      const rows = jsonRows(sorted.map(({ name, input, subscriptions }) => [name, input, subscriptions]))
      await session.write([upsert({ rows, now: env.wall() })])
    },
    async deleteDefinition(name) {
      const [rows = []] = await session.write([remove({ name })])
      return rows.length > 0
    },
  }
}

function findQuery({ tables: t, syntax }: LazyDeps, { names, subscribed, after, limit }: DefinitionQuery) {
  const conditions = [sql`true`]
  if (names) conditions.push(sql`d.name IN (SELECT job.value FROM ${syntax.texts(sql`${JSON.stringify(names)}`)} AS job)`)
  if (subscribed) conditions.push(sql`d.subscriptions IS NOT NULL`)
  if (after !== undefined) conditions.push(sql`d.name > ${after}`)
  return sql`SELECT d.* FROM ${t.definitions} AS d WHERE ${sql.join(conditions, sql` AND `)} ORDER BY d.name LIMIT CAST(${limit} AS bigint)`
}
