// Cancels, retries or deletes the runs that match a filter, one after the other, the oldest first: a run that triggered others comes before
// them. Each is a command of its own, so what was done stays done after a crash, and the same call goes on with the rest.
//   M1. It ends with the run that was the last one of the list when it began, so that runs which come to the list meanwhile do not keep it going.
import { cursorOf } from '../model/check-filter.ts'
import { DurablyError, type ErrorCode, hasCode } from '../model/errors.ts'
import { checkKeys, type KeysOf } from '../model/known-keys.ts'
import { type Run, type RunStatus, TERMINAL_STATUSES } from '../model/run.ts'
import { type RunConditions, type RunFilter, wrong } from '../model/run-filter.ts'
import type { ActorOption } from '../store/cluster/audited.ts'
import { CONDITIONS } from './filter-keys.ts'
import type { RunCommands } from './run-commands.ts'

/** The options of `cancelRuns`, `retryRuns` and `deleteRuns`. */
export interface ManyRunsOptions extends ActorOption {
  /** How many runs are changed at most. Default: all that match. */
  limit?: number
  /** The `cursor` that an earlier call with the same filter returned, to continue there. */
  cursor?: string
}

/** What `cancelRuns`, `retryRuns` and `deleteRuns` return. */
export interface ManyRunsOutcome {
  /** How many runs were changed. */
  count: number
  /** Where the next call continues, also after a restart. Null if all runs that match were looked at. */
  cursor: string | null
}

export interface ManyRunsDeps {
  commands: RunCommands
  getRuns: (filter: RunFilter) => Promise<Run[]>
}

export type ManyRunsVerb = keyof typeof VERBS

interface Verb {
  statuses: readonly RunStatus[]
  /** Whether it was changed. */
  act(commands: RunCommands, id: string, options: ActorOption): Promise<boolean>
  /** The run has changed since it was read, or must stay as it is. */
  skips: readonly ErrorCode[]
}

const VERBS = {
  cancelRuns: {
    statuses: ['pending', 'running'],
    act: async (commands, id, options) => (await commands.cancel(id, options)) !== 'refused',
    skips: ['run_not_found'],
  },
  retryRuns: {
    statuses: ['failed'],
    act: async (commands, id, options) => Boolean(await commands.retryRow(id, options)),
    skips: ['run_not_found', 'run_not_retryable'],
  },
  deleteRuns: {
    statuses: TERMINAL_STATUSES,
    act: async (commands, id, options) => (await commands.deleteRun(id, options)) === undefined,
    skips: ['run_not_found', 'run_active'],
  },
} as const satisfies { [name: string]: Verb }

const PAGE = 200
const OPTIONS: KeysOf<ManyRunsOptions> = { limit: 1, cursor: 1, actor: 1 }

/** What a server asks beyond the options, for a caller who may not change every run, and does not wait for ever. */
export interface ManyRunsBounds {
  /** Whether the caller may change this run; the others are left as they are. */
  mayChange(run: Run): Promise<boolean>
  /** How many runs are looked at in one call. */
  looksMax: number
}

const UNBOUNDED: ManyRunsBounds = { mayChange: async () => true, looksMax: Number.POSITIVE_INFINITY }

export async function manyRuns(
  { commands, getRuns }: ManyRunsDeps,
  name: ManyRunsVerb,
  conditions: RunConditions,
  options: ManyRunsOptions = {},
  { mayChange, looksMax } = UNBOUNDED,
): Promise<ManyRunsOutcome> {
  const verb: Verb = VERBS[name]
  checkKeys(name, options, OPTIONS)
  const { limit = Number.POSITIVE_INFINITY, cursor, actor } = options
  if (!(limit > 0 && (limit === Number.POSITIVE_INFINITY || Number.isSafeInteger(limit))))
    throw wrong('limit', 'a positive whole number', limit)
  const filter = checked(name, conditions, verb)
  const placeOf = (run: Run) => cursorOf(run, filter)
  const [newest] = cursor === undefined ? await getRuns({ ...filter, limit: 1 }) : []
  let { after, last } = cursor === undefined ? { after: undefined, last: newest && placeOf(newest) } : placesIn(name, cursor)
  let count = 0
  for (let looks = 0; last !== undefined; ) {
    const page = await getRuns({ ...filter, direction: 'previous', limit: PAGE, ...(after !== undefined && { cursor: after }) })
    for (const run of page.reverse()) {
      if (placeOf(run) > last) return { count, cursor: null }
      if (count === limit || looks++ === looksMax) return { count, cursor: `${after ?? ''}${BETWEEN}${last}` }
      if ((await mayChange(run)) && (await changed(verb, commands, run.id, { actor }))) count++
      after = placeOf(run)
    }
    if (page.length < PAGE) last = undefined
  }
  return { count, cursor: null }
}

/** In a cursor: between the place of the last run that was looked at, which may be none, and that of the last one of all (M1). */
const BETWEEN = '~'

function placesIn(name: string, cursor: string): { after: string | undefined; last: string } {
  const [after, last, ...more] = String(cursor).split(BETWEEN)
  if (!last || more.length > 0) throw wrong('cursor', `what ${name} returned as its cursor`, cursor)
  return { after: after || undefined, last }
}

function checked(name: string, conditions: RunConditions, { statuses }: Verb): RunConditions {
  if (typeof conditions !== 'object' || conditions === null)
    throw new DurablyError('invalid_argument', `${name} needs a filter; {} means all runs that are ${statuses.join(' or ')}`)
  const asked = [conditions.status ?? statuses].flat() as RunStatus[]
  const other = asked.find((status) => !statuses.includes(status))
  if (other !== undefined) throw wrong(`status for ${name}`, `one of ${statuses.join(', ')}`, other)
  checkKeys(name, conditions, CONDITIONS)
  return { ...conditions, status: asked }
}

async function changed({ act, skips }: Verb, commands: RunCommands, id: string, options: ActorOption): Promise<boolean> {
  try {
    return await act(commands, id, options)
  } catch (error) {
    if (skips.some((code) => hasCode(error, code))) return false
    throw error
  }
}
