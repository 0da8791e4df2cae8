import { CompiledQuery } from 'kysely'
import { DurablyError, hasCode } from '../../../model/errors.ts'
import type { Session } from '../shared/session.ts'
import { MIGRATION_LOCK } from './syntax.ts'

/** Looks before it creates: CREATE SCHEMA IF NOT EXISTS needs the right to create schemas also where the schema exists. */
export async function ensureSchema(session: Session, schema: string): Promise<void> {
  const [found] = await session.read(CompiledQuery.raw('SELECT FROM pg_namespace WHERE nspname = $1', [schema]))
  if (found) return
  const name = `"${schema.replaceAll('"', '""')}"`
  try {
    // Two processes that create it at once would meet a duplicate key.
    const lock = `SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`
    await session.write([lock, `CREATE SCHEMA IF NOT EXISTS ${name}`].map((text) => CompiledQuery.raw(text)))
  } catch (cause) {
    if (!hasCode(cause, 'store_readonly')) throw cause
    throw new DurablyError(
      'store_readonly',
      `the schema ${name} does not exist, and this user may not create it; let an administrator run CREATE SCHEMA ${name} AUTHORIZATION <this user> (${(cause as Error).message})`,
      { cause },
    )
  }
}
