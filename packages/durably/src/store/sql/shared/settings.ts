// The settings: one row. The guard is in the statement that writes, and the read after it sees what became of it.
import { sql } from 'kysely'
import type { SettingsRow, SettingsStore, SettingsValue } from '../../cluster/settings.ts'
import { recorded } from './audit.ts'
import type { LazyDeps } from './lazy-deps.ts'

interface SettingsParams {
  value: string
  version: number
  updatedBy: string | null
  now: number
}

export function sqlSettings(deps: LazyDeps): SettingsStore {
  const { statement, session, env, tables: t, syntax, reader } = deps
  const write = recorded<SettingsParams>(
    deps,
    (p) => sql`INSERT INTO ${t.settings} AS s (name, value, version, updated_at, updated_by)
      VALUES ('settings', ${p('value')}, 1, ${syntax.now(p)}, ${p('updatedBy')})
      ON CONFLICT (name) DO UPDATE SET value = excluded.value, version = s.version + 1, updated_at = excluded.updated_at, updated_by = excluded.updated_by
      WHERE s.version = ${p('version')} RETURNING *`,
  )
  const read = statement<object>(() => sql`SELECT * FROM ${t.settings} WHERE name = 'settings'`)
  const settingsRow = (read: ReturnType<LazyDeps['reader']>): SettingsRow => ({
    value: JSON.parse(read.text('value')) as Partial<SettingsValue>,
    version: read.integer('version'),
    updatedBy: read.textOrNull('updated_by'),
    updatedAt: read.integer('updated_at'),
  })

  return {
    async readSettings() {
      const [row] = await session.read(read({}))
      return row ? settingsRow(reader('settings', row.name, row)) : null
    },
    async writeSettings({ value, version, updatedBy }, options) {
      const values = { value: JSON.stringify(value), version, updatedBy, now: env.wall() }
      const answers = await session.write([...write(values, options, version + 1), read({})])
      const [written] = answers.at(0) ?? []
      const [found] = answers.at(-1) ?? []
      if (written) return { outcome: 'done', settings: settingsRow(reader('settings', written.name, written)) }
      return { outcome: 'changed', version: Number(found?.version) }
    },
  }
}
