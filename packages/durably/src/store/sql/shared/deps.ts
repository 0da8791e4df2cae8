import type { Kysely, RawBuilder } from 'kysely'
import type { Env } from '../../../model/env.ts'
import type { DurablyTables, Tables } from './schema.ts'
import type { Session } from './session.ts'
import type { CompileStatement } from './statement.ts'
import type { Syntax } from './syntax.ts'

/** What stands after INSERT INTO: a table and its columns, in the order in which all statements write them. */
interface InsertTargets {
  events: RawBuilder<unknown>
  steps: RawBuilder<unknown>
  logs: RawBuilder<unknown>
}

/** What every chapter of the store is built from. */
export interface SqlDeps {
  /** Compiles SQL once; afterwards only values are bound, by name. */
  statement: CompileStatement
  /** For a query whose text depends on its arguments. It only compiles: every query runs through the session. */
  db: Kysely<DurablyTables>
  session: Session
  env: Env
  tables: Tables
  into: InsertTargets
  syntax: Syntax
  /** False: events are counted, not kept. */
  eventLog: boolean
}
