// Place — the database that a command works on: a SQLite file or a Postgres URL.
import { existsSync } from 'node:fs'
import { postgres } from '@coji/durably/postgres'
import { sqlite } from '@coji/durably/sqlite'
import type { Dialect } from 'kysely'
import { DevClock, hasClock } from './dev/clock.ts'
import { CliError, EXIT } from './exit-code.ts'
import type { Given } from './given.ts'
import type { Io } from './output/io.ts'
import { shellWord } from './shell-word.ts'

export interface Place {
  kind: 'sqlite' | 'postgres'
  /** As it was given; for Postgres it may hold a password, so it is not shown. */
  at: string
  /** For people: without a password. */
  shown: string
  schema: string | undefined
  tablePrefix: string | undefined
  /** The options that lead there again, as words of a command line; empty if the environment names it, or it is the default. */
  options: string
  /** The time that its processes have: that of the system, but for the file of `durably dev`. */
  now: () => number
}

/** Where `durably dev` keeps its runs. */
export const DEV_FILE = '.durably/dev.db'

const POSTGRES = /^postgres(?:ql)?:\/\//i
const OTHER_SCHEME = /^([a-z][a-z0-9+.-]+):\/\//i

export function placeOf(given: Given, { env }: Pick<Io, 'env'>): Place {
  const at = given.text('db') ?? (env.DURABLY_DB || env.DATABASE_URL || (existsSync(DEV_FILE) ? DEV_FILE : undefined))
  if (at === undefined)
    throw new CliError(
      `no database was named: give --db app.db or --db postgres://host/name, or set DURABLY_DB or DATABASE_URL`,
      EXIT.usage,
    )
  const place = parsePlace(at)
  const now = place.kind === 'sqlite' && hasClock(at) ? new DevClock(at).now : Date.now
  return { ...place, schema: given.text('schema'), tablePrefix: given.text('table-prefix'), options: givenOptions(given, place), now }
}

function givenOptions(given: Given, { at }: Pick<Place, 'at'>): string {
  const words = ['db', 'schema', 'table-prefix'].flatMap((option) => {
    const value = given.text(option)
    if (value === undefined) return []
    return [`--${option}`, option === 'db' && hasPassword(at) ? '"$DATABASE_URL"' : shellWord(value)]
  })
  return words.join(' ')
}

/** What is printed ends in logs and chats. A URL that cannot be read may have one. */
function hasPassword(at: string): boolean {
  if (!POSTGRES.test(at)) return false
  if (!URL.canParse(at)) return true
  const { password, searchParams } = new URL(at)
  return password !== '' || searchParams.has('password')
}

export function parsePlace(at: string): Pick<Place, 'kind' | 'at' | 'shown'> {
  if (POSTGRES.test(at)) return { kind: 'postgres', at, shown: withoutPassword(at) }
  const scheme = OTHER_SCHEME.exec(at)?.[1]
  if (scheme !== undefined && scheme !== 'file')
    throw new CliError(`${scheme}:// is not supported: give a SQLite file or a URL that begins with postgres://`, EXIT.usage)
  return { kind: 'sqlite', at, shown: at }
}

export function dialectOf({ kind, at, schema }: Place): Dialect {
  if (kind === 'sqlite') return sqlite(at)
  return postgres(at, { max: 4, ...(schema !== undefined && { schema }) })
}

/** A misspelt path must not create an empty database. */
export function checkExists({ kind, at }: Place): void {
  if (kind === 'postgres' || at === ':memory:' || at.startsWith('file:') || existsSync(at)) return
  throw new CliError(`there is no file ${JSON.stringify(at)}; durably migrate --db ${shellWord(at)} creates it`, EXIT.database)
}

function withoutPassword(url: string): string {
  if (!URL.canParse(url)) return 'postgres'
  const { hostname, port, pathname } = new URL(url)
  return `postgres ${hostname}${port ? `:${port}` : ''}${pathname}`
}
