import { sql } from 'kysely'
import type { Syntax } from '../../context.ts'

export const sqliteSyntax: Syntax = {
  elements: (json) => sql`json_each(${json})`,
  by: (index) => sql`INDEXED BY ${index}`,
  insertionOrder: sql`rowid`,
  clustered: sql`WITHOUT ROWID`,
  milliseconds: sql`INTEGER`,
}
