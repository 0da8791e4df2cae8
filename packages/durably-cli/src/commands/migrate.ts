import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { type SchemaState, schemaState } from '@coji/durably/schema'
import type { Command } from '../command.ts'
import { CliError, EXIT, UsageError } from '../exit-code.ts'
import { openDurably } from '../open.ts'
import { checkExists, dialectOf, type Place, placeOf } from '../place.ts'

export const migrate: Command = {
  name: 'migrate',
  summary: 'create or update the tables',
  options: {
    print: { what: 'only print the statements that it would execute' },
    check: { what: 'change nothing; the exit code is 1 if the tables are not up to date' },
  },
  examples: ['durably migrate --db app.db', 'durably migrate --print > migration.sql', 'durably migrate --check && npm run deploy'],
  async run(given, io) {
    const place = placeOf(given, io)
    if (given.has('print') && given.has('check')) throw new UsageError('give either --print or --check')
    const isPlanned = given.has('print') || given.has('check')
    if (isPlanned) checkExists(place)
    else if (place.kind === 'sqlite' && place.at !== ':memory:') mkdirSync(dirname(place.at), { recursive: true })
    const before = await stateOf(place)
    if (before.oldestCode > before.known) throw tooNew(before)
    if (given.has('print')) {
      io.out(given.has('json') ? JSON.stringify(before) : before.pending.map((statement) => `${statement};`).join('\n'))
      return EXIT.done
    }
    if (!isPlanned && before.pending.length > 0) await apply(place)
    const { version, known, pending } = isPlanned ? before : await stateOf(place)
    if (given.has('json')) io.out(JSON.stringify({ version, known, from: before.version, pending: pending.length }))
    else io.out(said({ place, from: before.version, version, known, isPending: pending.length > 0 }))
    return pending.length > 0 ? EXIT.refused : EXIT.done
  },
}

function said({
  place,
  from,
  version,
  known,
  isPending,
}: {
  place: Place
  from: number
  version: number
  known: number
  isPending: boolean
}): string {
  if (isPending) return `${place.shown}: schema version ${version}, this program knows ${known}; durably migrate updates it`
  return from === version
    ? `${place.shown}: schema version ${version}, up to date`
    : `${place.shown}: migrated from version ${from} to ${version}`
}

async function apply(place: Place): Promise<void> {
  await using durably = openDurably(place)
  await durably.migrate()
}

function stateOf(place: Place): Promise<SchemaState> {
  const { tablePrefix } = place
  return schemaState({ dialect: dialectOf(place), ...(tablePrefix !== undefined && { tablePrefix }) })
}

function tooNew({ version, oldestCode, known }: SchemaState): CliError {
  return new CliError(
    `the database has schema version ${version}, which needs code that knows version ${oldestCode}; this program knows ${known}\n` +
      '  npm install @coji/durably@latest @coji/durably-cli@latest updates this program',
    EXIT.database,
  )
}
