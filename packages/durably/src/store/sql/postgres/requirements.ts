import { CompiledQuery, type Dialect, type Kysely } from 'kysely'
import { DurablyError, hasCode } from '../../../model/errors.ts'
import { notConfirmed } from '../shared/detect.ts'
import type { DurablyTables } from '../shared/schema.ts'
import type { Session } from '../shared/session.ts'
import { MIGRATION_LOCK } from './syntax.ts'

/** The oldest version that has MATERIALIZED. */
const OLDEST = 12

const SETTINGS = CompiledQuery.raw(
  `select current_setting('server_version_num') as version, current_setting('server_encoding') as encoding`,
)

export async function checkRequirements(session: Session): Promise<void> {
  const [row] = await session.read(SETTINGS)
  const version = Math.floor(Number(row?.version) / 10_000)
  if (version < OLDEST) throw new DurablyError('unknown_dialect', `Postgres ${version} is too old; ${OLDEST} or newer is needed`)
  if (row?.encoding !== 'UTF8') {
    throw new DurablyError(
      'unknown_dialect',
      `the database is encoded in ${row?.encoding}; texts need a database created with ENCODING 'UTF8'`,
    )
  }
}

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

/** Where only the placeholders of a dialect were seen, its database must say that it is Postgres. */
export async function confirm(db: Kysely<DurablyTables>, dialect: Dialect): Promise<void> {
  try {
    await db.executeQuery(SETTINGS)
  } catch (thrown) {
    throw isUnreachable(thrown) ? thrown : notConfirmed(dialect, 'setting server_version_num', thrown)
  }
}

/** A server that answers, and is not about to stop (57) or out of something (53), has answered the question. */
function isUnreachable(thrown: unknown): boolean {
  const code: unknown = typeof thrown === 'object' && thrown !== null ? Reflect.get(thrown, 'code') : undefined
  return /^(08|28|3D|53|57|E[A-Z]{3,})/.test(String(code)) || /connect/i.test(String(thrown))
}
