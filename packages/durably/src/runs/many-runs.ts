// Cancels, retries or deletes the runs that match a filter, one after the other, the oldest first: a run that triggered others comes before
// them. Each is a command of its own, so what was done stays done after a crash, and the same call goes on with the rest.
import { cursorOf, isByEnd } from '../model/check-filter.ts'
import { type Env, iso } from '../model/env.ts'
import { DurablyError, type ErrorCode, hasCode } from '../model/errors.ts'
import { type Run, type RunStatus, TERMINAL_STATUSES } from '../model/run.ts'
import { type RunConditions, type RunFilter, wrong } from '../model/run-filter.ts'
import type { RunCommands } from './run-commands.ts'

/** The options of `cancelRuns`, `retryRuns` and `deleteRuns`. */
export interface ManyRunsOptions {
  /** How many runs are changed at most. Default: all that match. */
  limit?: number
  /** The `cursor` that an earlier call with the same filter returned, to continue there. */
  cursor?: string
}

/** What `cancelRuns`, `retryRuns` and `deleteRuns` return. */
export interface ManyRunsOutcome {
  /** How many runs were changed. */
  count: number
  /** Where the next call continues. Null if all runs that match were looked at. */
  cursor: string | null
}

export interface ManyRunsDeps {
  env: Env
  commands: RunCommands
  getRuns: (filter: RunFilter) => Promise<Run[]>
}

export type ManyRunsVerb = keyof typeof VERBS

interface Verb {
  statuses: readonly RunStatus[]
  /** Whether it was changed. */
  act(commands: RunCommands, id: string): Promise<boolean>
  /** The run has changed since it was read, or must stay as it is. */
  skips: readonly ErrorCode[]
}

const VERBS = {
  cancelRuns: {
    statuses: ['pending', 'running'],
    act: async (commands, id) => (await commands.cancel(id)) !== 'refused',
    skips: ['run_not_found'],
  },
  retryRuns: {
    statuses: ['failed'],
    act: async (commands, id) => Boolean(await commands.retryRow(id)),
    skips: ['run_not_found', 'run_not_retryable'],
  },
  deleteRuns: {
    statuses: TERMINAL_STATUSES,
    act: async (commands, id) => (await commands.deleteRun(id)) === undefined,
    skips: ['run_not_found', 'run_active'],
  },
} as const satisfies { [name: string]: Verb }

const PAGE = 200

export async function manyRuns(
  { env, commands, getRuns }: ManyRunsDeps,
  name: ManyRunsVerb,
  conditions: RunConditions,
  { limit = Number.POSITIVE_INFINITY, cursor: from }: ManyRunsOptions = {},
): Promise<ManyRunsOutcome> {
  const verb: Verb = VERBS[name]
  if (!(limit > 0 && (limit === Number.POSITIVE_INFINITY || Number.isSafeInteger(limit))))
    throw wrong('limit', 'a positive whole number', limit)
  const filter: RunFilter = { ...bounded(name, conditions, verb, env), direction: 'previous', limit: PAGE }
  /** The runs that were changed already: one that is retried may end again, and would come up again in a list by end. */
  const seen = new Set<string>()
  let count = 0
  for (let cursor = from; ; ) {
    const page = await getRuns({ ...filter, ...(cursor !== undefined && { cursor }) })
    const fresh = page.reverse().filter(({ id }) => !seen.has(id))
    for (const run of fresh) {
      if (count === limit) return { count, cursor: cursor ?? null }
      if (await changed(verb, commands, run.id)) count++
      cursor = cursorOf(run, filter)
      if (isByEnd(filter)) seen.add(run.id)
    }
    if (page.length < PAGE || fresh.length === 0) return { count, cursor: null }
  }
}

/** Leaves out runs that are triggered from now on, so that the command ends. */
function bounded(name: string, conditions: RunConditions, { statuses }: Verb, env: Env): RunConditions {
  if (typeof conditions !== 'object' || conditions === null)
    throw new DurablyError('invalid_argument', `${name} needs a filter; {} means all runs that are ${statuses.join(' or ')}`)
  const asked = [conditions.status ?? statuses].flat() as RunStatus[]
  const other = asked.find((status) => !statuses.includes(status))
  if (other !== undefined) throw wrong(`status for ${name}`, `one of ${statuses.join(', ')}`, other)
  return { createdBefore: iso(env.wall() + 1), ...conditions, status: asked }
}

async function changed({ act, skips }: Verb, commands: RunCommands, id: string): Promise<boolean> {
  try {
    return await act(commands, id)
  } catch (error) {
    if (skips.some((code) => hasCode(error, code))) return false
    throw error
  }
}
