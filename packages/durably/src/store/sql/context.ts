import type { Kysely, RawBuilder } from 'kysely'
import type { Env } from '../../model/env.ts'
import type { DurablyTables, Tables } from './schema.ts'
import type { Session } from './session.ts'

/** What every chapter of the store is built from. */
export interface SqlContext {
  /** Compiles; queries run through the session. */
  db: Kysely<DurablyTables>
  session: Session
  env: Env
  tables: Tables
  syntax: Syntax
  /** A concurrency key was taken between the pick and the update. */
  isKeyTaken(error: unknown): boolean
}

/** The few words that databases spell differently. */
export interface Syntax {
  /** The members of a JSON array as rows with `key` (from 0) and `value`. */
  elements(json: RawBuilder<unknown>): RawBuilder<unknown>
  /** After a table in FROM: go by this index, whatever the planner thinks of others. */
  by(index: RawBuilder<unknown>): RawBuilder<unknown>
  /** The order in which the rows of a table were inserted. */
  insertionOrder: RawBuilder<unknown>
  /** Ends a CREATE TABLE whose rows are small and always found by their primary key: the rows stand in its index. */
  clustered: RawBuilder<unknown>
  /** The type of a column that holds milliseconds. */
  milliseconds: RawBuilder<unknown>
}
