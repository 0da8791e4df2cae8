import type { Dialect, Driver, Kysely } from 'kysely'
import type { Env } from '../../../model/env.ts'
import type { DurablyError } from '../../../model/errors.ts'
import type { QueriesOf } from '../sqlite/owner-statements.ts'
import type { SqlContext, Syntax } from './deps.ts'
import type { Detected } from './detect.ts'
import type { RunWrites } from './runs.ts'
import type { DurablyTables } from './schema.ts'
import type { Session } from './session.ts'

/** What a database brings to the store that others do not. */
export interface Database {
  session: Session
  syntax: Syntax
  writes(context: SqlContext): RunWrites
  /** The statements of one owner write; the first one returns a row if it was accepted. */
  ownerQueries(context: SqlContext): QueriesOf
  /** A concurrency key was taken between the pick and the update. */
  isKeyTaken(error: unknown): boolean
  classify(thrown: unknown): DurablyError
  /** Rejects when the database is too old, or lacks what the store needs. */
  checkRequirements(): Promise<void>
}

export interface DatabaseParts {
  db: Kysely<DurablyTables>
  driver: Driver
  env: Env
  dialect: Dialect
  detected: Detected
  clock: Clock
  /** A database of a browser that would not survive the page is accepted. */
  allowMemory: boolean
}

/** Whose time decides; a database without a clock that all its users share goes by the environment's. */
export type Clock = 'database' | 'env'
