import { type RawBuilder, sql } from 'kysely'
import type { SettingsValue } from '../../cluster/settings.ts'
import type { SqlDeps } from './deps.ts'

/** A setting, inside of a statement; `otherwise`, if nobody has set it. */
export function setting(
  { tables: t, syntax }: Pick<SqlDeps, 'tables' | 'syntax'>,
  name: keyof SettingsValue,
  otherwise: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`coalesce((SELECT CAST(${syntax.member(sql`value`, name)} AS bigint) FROM ${t.settings} WHERE name = 'settings'), ${otherwise})`
}
