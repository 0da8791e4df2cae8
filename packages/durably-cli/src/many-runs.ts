// What is done to runs that are named by their ids, or to all that match.
import type { ActorOption, Durably, ManyRunsOptions, ManyRunsOutcome, RunConditions, RunStatus } from '@coji/durably'
import { AS_OPTION, actorOf } from './actor.ts'
import type { Option } from './command.ts'
import { conditionsOf, hasConditions } from './conditions.ts'
import { CliError, EXIT, UsageError } from './exit-code.ts'
import type { Given } from './given.ts'
import type { Source } from './job-names.ts'
import { withDurably } from './open.ts'
import type { Io } from './output/io.ts'
import { counted } from './output/plural.ts'
import type { Place } from './place.ts'

export const MANY_OPTIONS: Readonly<Record<string, Option>> = {
  yes: { short: 'y', what: 'really do it to all runs that match; without it they are only counted' },
  ...AS_OPTION,
}

interface Deed {
  verb: string
  done: string
  /** It changes runs of these alone. */
  statuses: readonly RunStatus[]
  /** Returns what to say of the run, if it is not `done`. */
  one(durably: Durably, id: string, as: ActorOption, place: Place): Promise<string | undefined>
  many(durably: Durably, filter: RunConditions, options: ManyRunsOptions): Promise<ManyRunsOutcome>
}

/** Changed in one call, between two reports. */
const PAGE = 200
/** Counted before somebody says yes; more are "more than". */
const COUNTED_MAX = 10_000

export function actOnRuns(given: Given, io: Io, deed: Deed): Promise<number | undefined> {
  const ids = given.args('id')
  if (ids.length > 0 && hasConditions(given)) throw new UsageError('give either ids or options that say which runs, not both')
  if (ids.length === 0 && !hasConditions(given)) throw new UsageError(`say which runs: an id, or an option such as --job`)
  return withDurably(given, io, (durably, place) =>
    ids.length > 0
      ? eachOf({ durably, place }, ids, given, io, deed)
      : allThatMatch(durably, conditionsOf(given, place.now()), given, io, deed),
  )
}

async function eachOf({ durably, place }: Source, ids: readonly string[], given: Given, io: Io, { done, one }: Deed): Promise<number> {
  for (const id of ids) {
    const said = (await one(durably, id, actorOf(given, io), place)) ?? done
    io.out(given.has('json') ? JSON.stringify({ id, outcome: said }) : `${id}  ${said}`)
  }
  return EXIT.done
}

async function allThatMatch(durably: Durably, filter: RunConditions, given: Given, io: Io, deed: Deed): Promise<number> {
  const { verb, done, statuses, many } = deed
  if (!given.has('yes')) {
    const status = filter.status === undefined ? statuses : [filter.status].flat().filter((status) => statuses.includes(status))
    const found = status.length === 0 ? [] : await durably.getRuns({ ...filter, status, values: false, limit: COUNTED_MAX })
    const count = found.length === COUNTED_MAX ? `${COUNTED_MAX} or more` : String(found.length)
    throw new CliError(`${count} ${count === '1' ? 'run matches' : 'runs match'}; add --yes to ${verb} ${count === '1' ? 'it' : 'them'}`)
  }
  let count = 0
  let cursor: string | null = null
  do {
    const outcome: ManyRunsOutcome = await many(durably, filter, { limit: PAGE, ...(cursor !== null && { cursor }), ...actorOf(given, io) })
    count += outcome.count
    cursor = outcome.cursor
    io.status(`${count} ${done} …`)
  } while (cursor !== null && !io.interrupted.aborted)
  io.status('')
  io.out(
    given.has('json')
      ? JSON.stringify({ count, cursor })
      : `${counted(count, 'run')} ${done}${cursor === null ? '' : '; interrupted, the same command goes on'}`,
  )
  return EXIT.done
}
