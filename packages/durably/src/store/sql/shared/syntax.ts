import type { RawBuilder } from 'kysely'
import type { Param } from './statement.ts'

/** The few fragments of SQL that differ between the databases. */
export interface Syntax {
  /** The members of a JSON array as rows with `key` (from 0) and `value`; the array may be a column of a table before it. */
  elements(json: RawBuilder<unknown>): RawBuilder<unknown>
  /** Stands after a table in FROM: use this index, whatever the planner would choose. */
  by(index: RawBuilder<unknown>): RawBuilder<unknown>
  /** Whether `by` names the index, so that a statement fails without it. */
  namesIndexes: boolean
  /** The members of a JSON array of texts as rows with `key` (from 0) and `value`. */
  texts(json: RawBuilder<unknown>): RawBuilder<unknown>
  /** Stands at the beginning of a statement that uses `now`. */
  clock(p: Param<{ now: number }>): RawBuilder<unknown>
  /** The store's time, in milliseconds; the same everywhere in a statement. */
  now(p: Param<{ now: number }>): RawBuilder<unknown>
  /** Stands after the columns of a run that is read: the store's time as `read_at`, if the store has a clock of its own. */
  readAt: RawBuilder<unknown>
  /** So many concurrency keys are read at most before the first run with a key is looked at; whether any other key is in use is looked up. */
  knownKeys: RawBuilder<unknown>
  /** How many members a JSON array has; 0 for NULL. */
  count(json: RawBuilder<unknown>): RawBuilder<unknown>
  /** The text of a member of a JSON object. */
  member(json: RawBuilder<unknown>, name: string): RawBuilder<unknown>
  /** Ends a SELECT whose rows `r` will be moved: those that someone else is moving are left out. */
  skipLocked: RawBuilder<unknown>
  /** Ends a SELECT of a row `r` that nobody may move until the commit. */
  lock: RawBuilder<unknown>
  /** Ends a SELECT whose rows `r` must still be there at the commit. */
  keep: RawBuilder<unknown>
  /** The order in which the steps, or the log lines, were inserted. */
  insertionOrder: RawBuilder<unknown>
  /** The column behind `insertionOrder`, where a table has none by itself. */
  insertionColumn: RawBuilder<unknown>
  /** The column of a run that comes nearest to the order in which runs were created. */
  creationOrder: RawBuilder<unknown>
  /** The type of a text that is looked up or ordered: by its bytes, whatever the language of the database. */
  key: RawBuilder<unknown>
  /** Stands after a column that refers to a run: the row is deleted with its run. */
  belongsTo(runs: RawBuilder<unknown>): RawBuilder<unknown>
  /** Whether a statement that writes may stand in a WITH, and its rows be read by the rest of the statement. */
  writesInWith: boolean
  /** Whether the database deletes the rows of a run together with it. */
  cascades: boolean
  /** Ends a CREATE TABLE whose rows are small and always found by their primary key: they are stored in its index. */
  clustered: RawBuilder<unknown>
  /** What ends a CREATE TRIGGER that executes a statement, and what must be defined before it under this name. */
  triggerBody(name: RawBuilder<unknown>, statement: RawBuilder<unknown>): { define: RawBuilder<unknown>[]; call: RawBuilder<unknown> }
  /** The type of a column that holds milliseconds, or a count without an end. */
  bigint: RawBuilder<unknown>
  /** The first statement of a migration where creating one table twice at once is an error; null where writers wait anyway. */
  migrationLock: RawBuilder<unknown> | null
}
