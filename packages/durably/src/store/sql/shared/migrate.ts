// Brings the schema up to date. Migrations are loaded only by those who have to apply one: a page asks for the version at every visit.
import { lazyCode } from '../../../model/lazy.ts'
import type { SqlDeps } from './deps.ts'
import { isUpToDate, readVersion } from './schema-version.ts'

export const migrations = lazyCode(() => import('./apply-migrations.ts'))

export async function migrate(deps: SqlDeps): Promise<void> {
  const version = await readVersion(deps)
  if (version !== null && isUpToDate(version)) return
  const { applyMigrations } = await migrations(deps.env)
  await applyMigrations(deps, version)
}
