import type { Durably } from '@coji/durably'
import { schemaState } from '@coji/durably/schema'
import type { Command } from '../command.ts'
import { copyCluster } from '../copy/copy-cluster.ts'
import { copyEndedRuns, copyMovedRuns } from '../copy/copy-runs.ts'
import { fenceRuns, fenceSources, prepareFence } from '../copy/fence.ts'
import { Checksum } from '../copy/row.ts'
import { CliError, EXIT, UsageError } from '../exit-code.ts'
import type { Given } from '../given.ts'
import { openDurably } from '../open.ts'
import type { Io } from '../output/io.ts'
import { checkExists, dialectOf, type Place, parsePlace } from '../place.ts'
import { untypedDb } from '../untyped-db.ts'

const FENCED_AT_ONCE = 200
const BAR_CELLS = 24

export const copy: Command = {
  name: 'copy',
  summary: 'move everything from a SQLite file to Postgres: same ids, live runs fenced and moved, each row compared',
  about:
    'Live runs end in the file as cancelled and go on in Postgres after their last recorded step; schedules of the file are paused, and its events count as delivered.\n' +
    'Let programs trigger in Postgres first. After an interruption the same command goes on. Runs that are triggered in the file later need it again.',
  args: [
    { name: 'from', what: 'the SQLite file' },
    { name: 'to', what: 'the URL of the Postgres database' },
  ],
  options: { yes: { short: 'y', what: 'really do it; without it, only what would be moved is counted' } },
  withoutDatabase: true,
  examples: ['durably copy app.db postgres://localhost/app', 'durably copy app.db postgres://localhost/app --yes'],
  async run(given, io) {
    const [from, to] = [placeNamed(given.arg('from')), placeNamed(given.arg('to'))]
    if (from.kind !== 'sqlite' || to.kind !== 'postgres') throw new UsageError('it copies from a SQLite file to a Postgres URL')
    checkExists(from)
    await checkUpToDate(from)
    await using source = openDurably(from)
    const counts = await source.countsByPhase()
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
    if (!given.has('yes')) throw new CliError(`${total} runs and their histories would go to ${to.shown}; add --yes to move them`)
    await using target = openDurably(to)
    await target.migrate()
    return await move({ source, target, total, to }, given, io)
  },
}

async function move(
  { source, target, total, to }: { source: Durably; target: Durably; total: number; to: Place },
  given: Given,
  io: Io,
): Promise<number> {
  const checksum = new Checksum()
  let copied = 0
  const onCopied = (runs: number) => {
    copied += runs
    io.status(`${bar(copied, total)} ${copied}/${total} runs`)
  }
  const deps = { source: untypedDb(source), target: untypedDb(target), now: Date.now, checksum, onCopied }
  await prepareFence(deps.source)
  await copyEndedRuns(deps)
  await fenceSources(deps.source, Date.now())
  let fenced = 0
  for (let more = FENCED_AT_ONCE; more > 0; fenced += more) more = await fenceRuns(deps.source, to.shown, Date.now(), FENCED_AT_ONCE)
  await copyMovedRuns(deps)
  const { schedules, events } = await copyCluster(deps)
  io.status('')
  const summary = { runs: copied, fenced, schedules, events, rows: checksum.rows, checksum: String(checksum) }
  if (given.has('json')) io.out(JSON.stringify(summary))
  else
    io.out(
      `${copied} runs (${fenced} of them were alive), ${schedules} schedules and ${events} events are in ${to.shown}; ${checksum.rows} rows compared, checksum ${summary.checksum.slice(0, 16)}`,
    )
  return EXIT.done
}

function placeNamed(at: string): Place {
  return { ...parsePlace(at), schema: undefined, tablePrefix: undefined, options: '', now: Date.now }
}

/** The columns must be the same on both sides. */
async function checkUpToDate(place: Place): Promise<void> {
  const { version, known } = await schemaState({ dialect: dialectOf(place) })
  if (version !== known)
    throw new CliError(
      `${place.shown} has schema version ${version}, this program knows ${known}; durably migrate --db ${place.at}`,
      EXIT.database,
    )
}

function bar(done: number, total: number): string {
  const full = Math.min(BAR_CELLS, Math.round((done / Math.max(1, total)) * BAR_CELLS))
  return '█'.repeat(full) + '░'.repeat(BAR_CELLS - full)
}
