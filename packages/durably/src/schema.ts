// @coji/durably/schema — which tables a database has, and the statements that would bring them up to date. It changes nothing.
import type { CompiledQuery, Dialect } from 'kysely'
import { systemEnv } from './model/env.ts'
import { MIGRATIONS } from './store/sql/migrations/index.ts'
import { openSql } from './store/sql/open-sql.ts'
import { classifyError as ofPostgres } from './store/sql/postgres/classify-error.ts'
import { postgresSyntax } from './store/sql/postgres/syntax.ts'
import { findSchema, lackingStatements } from './store/sql/shared/apply-migrations.ts'
import { isFit } from './store/sql/shared/schema-version.ts'
import type { Row } from './store/sql/shared/session.ts'
import { classifyError as ofSqlite } from './store/sql/sqlite/classify-error.ts'
import { sqliteSyntax } from './store/sql/sqlite/syntax.ts'

/** What `schemaState` returns. */
export interface SchemaState {
  /** The version of the tables; 0 if there are none. */
  version: number
  /** The version that this code brings them to. */
  known: number
  /** The oldest version of the code that works on the tables; 0 if there are none. */
  oldestCode: number
  /** Whether this code works on the tables as they are. */
  isUsable: boolean
  /** The statements that `migrate()` would execute, in one transaction. Empty if there is nothing to do. */
  pending: string[]
}

/**
 * Reads the version of the tables in a database, and the statements that `migrate()` would execute.
 *
 * @example const { isUsable, pending } = await schemaState({ dialect: sqlite('app.db') })
 */
export async function schemaState(options: { dialect: Dialect; tablePrefix?: string }): Promise<SchemaState> {
  const { db, tables, detected, schema } = openSql(options)
  const isPostgres = detected.kind === 'postgres'
  const classify = isPostgres ? ofPostgres : ofSqlite
  const read = async (query: CompiledQuery) => {
    try {
      return (await db.executeQuery(query)).rows as Row[]
    } catch (thrown) {
      throw classify(thrown)
    }
  }
  try {
    const syntax = isPostgres ? postgresSyntax('database') : sqliteSyntax
    const deps = { db, session: { read }, tables, syntax, env: systemEnv() }
    const found = await findSchema(deps)
    const { version, oldestCode } = found
    const pending = version < MIGRATIONS.length ? lackingStatements(deps, found).map((lacking) => withValues(lacking.compile(db))) : []
    const create = schema && version === 0 ? [`CREATE SCHEMA IF NOT EXISTS "${schema.replaceAll('"', '""')}"`] : []
    return { version, known: MIGRATIONS.length, oldestCode, isUsable: isFit(found, MIGRATIONS.length), pending: [...create, ...pending] }
  } finally {
    await db.destroy()
  }
}

/** Only the rows about versions have values: numbers, and a time. */
function withValues({ sql, parameters }: CompiledQuery): string {
  let next = 0
  return parameters.length === 0 ? sql : sql.replaceAll(/\?|\$\d+/g, () => literal(parameters[next++]))
}

function literal(value: unknown): string {
  return typeof value === 'number' ? String(value) : `'${String(value).replaceAll("'", "''")}'`
}
