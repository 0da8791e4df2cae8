// Statement — SQL that Kysely compiles once; afterwards only values are bound, by name.
// Building a query costs as much as running it on SQLite, so nothing on the hot path is built twice.
import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely'
import type { DurablyTables } from './schema.ts'

/** An array is for databases that take one as a parameter. */
export type Value = string | number | null | readonly (string | null)[]

export type Param<P> = (name: keyof P & string) => RawBuilder<unknown>

export type Statement<P> = (values: P) => CompiledQuery

/** Stands where a value will be; it never reaches a driver. */
class Slot {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** @example const byId = statement<{ id: string }>((p) => sql`SELECT * FROM runs WHERE id = ${p('id')}`) */
export type CompileStatement = <P extends { [K in keyof P]: Value }>(build: (param: Param<P>) => RawBuilder<unknown>) => Statement<P>

export function statementsOf(db: Kysely<DurablyTables>): CompileStatement {
  return <P extends { [K in keyof P]: Value }>(build: (param: Param<P>) => RawBuilder<unknown>): Statement<P> => {
    const { sql: text, query, queryId, parameters } = build((name) => sql.val(new Slot(name))).compile(db)
    const names = parameters.map((slot) => {
      if (slot instanceof Slot) return slot.name as keyof P
      throw new TypeError(`a statement takes its values by name, constants as sql.lit(): ${text}`)
    })
    return (values) => ({ sql: text, query, queryId, parameters: names.map((name) => values[name]) })
  }
}
