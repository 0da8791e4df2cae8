// Brings the schema up to date. The migrations are loaded only if one has to be applied: a page asks for the version at every visit.
import { lazyCode } from '../../../model/lazy.ts'
import { SCHEMA_VERSION } from '../migrations/schema-version.ts'
import type { SqlDeps } from './deps.ts'
import { isFit, readVersion } from './schema-version.ts'

export const migrations = lazyCode(() => import('./apply-migrations.ts'))

export async function migrate(deps: SqlDeps): Promise<void> {
  const found = await readVersion(deps)
  if (found && isFit(found, SCHEMA_VERSION)) return
  const { applyMigrations } = await migrations(deps.env)
  await applyMigrations(deps)
}
