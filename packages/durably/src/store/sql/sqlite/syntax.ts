import { sql } from 'kysely'
import type { Syntax } from '../shared/syntax.ts'

/** Writers hold the whole database, so there is no row to lock. */
const nothing = sql``

export const sqliteSyntax: Syntax = {
  elements: (json) => sql`json_each(${json})`,
  texts: (json) => sql`json_each(${json})`,
  count: (json) => sql`coalesce(json_array_length(${json}), 0)`,
  member: (json, name) => sql`${json} ->> ${sql.lit(name)}`,
  knownKeys: sql`100`,
  clock: () => nothing,
  now: (p) => p('now'),
  readAt: nothing,
  skipLocked: nothing,
  lock: nothing,
  keep: nothing,
  by: (index) => sql`INDEXED BY ${index}`,
  namesIndexes: true,
  insertionOrder: sql`rowid`,
  insertionColumn: nothing,
  creationOrder: sql`rowid`,
  key: sql`TEXT`,
  // A connection may not enforce foreign keys, so a run's rows are deleted explicitly.
  belongsTo: () => nothing,
  writesInWith: false,
  cascades: false,
  clustered: sql`WITHOUT ROWID`,
  triggerBody: (_, statement) => ({ define: [], call: sql`BEGIN ${statement}; END` }),
  bigint: sql`INTEGER`,
  migrationLock: null,
}
