// A run as one text. Of fifty columns a driver makes an object with fifty properties, one by one: that takes three times as long as it takes SQLite to
// write the columns as JSON, and JSON.parse to read them.
import { type RawBuilder, sql } from 'kysely'
import type { RunRow } from '../../../model/run.ts'
import { RUN_COLUMNS, runOfArray } from '../shared/rows.ts'
import type { Row } from '../shared/session.ts'

/** The run `r`, for `runOfText`. JSON has no bytes, and one run with a column that somebody has spoiled must not keep the others from being claimed. */
export const RUN_TEXT: RawBuilder<unknown> = sql`json_array(${sql.join(RUN_COLUMNS.map((column) => withoutBytes(sql`r.${sql.ref(column)}`)))}) AS columns`

function withoutBytes(column: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`iif(typeof(${column}) = 'blob', quote(${column}), ${column})`
}

export function runOfText({ columns }: Row): RunRow {
  return runOfArray(JSON.parse(String(columns)))
}
