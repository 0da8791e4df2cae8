// The options that every command has.
import type { Command, Option } from './command.ts'

const EVERYWHERE: Readonly<Record<string, Option>> = {
  json: { what: 'print JSON for programs' },
  help: { short: 'h', what: 'show this help' },
}

const OF_A_DATABASE: Readonly<Record<string, Option>> = {
  db: { value: 'place', what: 'a SQLite file or a Postgres URL; otherwise DURABLY_DB, then DATABASE_URL, then .durably/dev.db' },
  schema: { value: 'name', what: 'the Postgres schema that has the tables' },
  'table-prefix': { value: 'text', what: 'what stands before the names of the tables' },
}

export function optionsOf({ options = {}, withoutDatabase }: Command): Readonly<Record<string, Option>> {
  return { ...options, ...(withoutDatabase ? {} : OF_A_DATABASE), ...EVERYWHERE }
}
