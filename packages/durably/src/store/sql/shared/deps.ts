import type { Kysely } from 'kysely'
import type { Env } from '../../../model/env.ts'
import type { DurablyTables, Tables } from './schema.ts'
import type { Session } from './session.ts'
import type { CompileStatement } from './statement.ts'
import type { Syntax } from './syntax.ts'

/** What every chapter of the store is built from. */
export interface SqlDeps {
  /** Compiles SQL once; afterwards only values are bound, by name. */
  statement: CompileStatement
  /** For a query whose text depends on its arguments. It only compiles: every query runs through the session. */
  db: Kysely<DurablyTables>
  session: Session
  env: Env
  tables: Tables
  syntax: Syntax
  /** False: events are counted, not kept. */
  eventLog: boolean
}
