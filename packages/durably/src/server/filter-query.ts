// The filter of a list of runs, as query parameters: by the names of its fields, `jobName` as `job`, and a label as `label.` and its name. Lists
// of values are given as often as there are values. A parameter that is not known is refused: without it, a command would reach more runs than its caller meant.
import { checkFilter } from '../model/check-filter.ts'
import { DurablyError } from '../model/errors.ts'
import { checkName } from '../model/name.ts'
import type { RunConditions, RunFilter } from '../model/run-filter.ts'
import { RUN_FILTER } from '../runs/filter-keys.ts'
import type { Call } from './call.ts'
import { principalOf, withOwnKeys } from './principal.ts'
import { queryParameter } from './query.ts'

const LIMIT_DEFAULT = 50
export const LIMIT_MAX = 200

export type PageFilter = RunConditions & Pick<RunFilter, 'cursor' | 'direction'> & { limit: number }

/** Keys are those of the caller's principal. */
export async function pageFilter(call: Call): Promise<PageFilter> {
  const { query } = call
  refuseUnknown(query)
  const filter = { ...valuesOf(query), limit: readLimit(queryParameter(query, 'limit')) } as PageFilter
  checkFilter(filter)
  for (const jobName of [filter.jobName ?? []].flat()) checkName('job', jobName)
  return withOwnKeys(await principalOf(call), filter)
}

const SEVERAL = ['status', 'phase', 'job']
const TIMES = ['createdAfter', 'createdBefore', 'finishedAfter', 'finishedBefore']
const LABEL = 'label.'
const { jobName: _, labels: __, ...SAME_NAME } = RUN_FILTER
const PARAMETERS = ['job', ...Object.keys(SAME_NAME)]

function refuseUnknown(query: URLSearchParams): void {
  const unknown = [...query.keys()].find((name) => !PARAMETERS.includes(name) && !name.startsWith(LABEL))
  if (unknown !== undefined)
    throw new DurablyError(
      'invalid_argument',
      `there is no parameter ${JSON.stringify(unknown)}; there are ${PARAMETERS.join(', ')}, and ${LABEL}<name> for a label`,
    )
}

function valuesOf(query: URLSearchParams): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  const labels: [string, string][] = []
  for (const name of new Set(query.keys())) {
    const value = () => queryParameter(query, name) ?? ''
    if (SEVERAL.includes(name)) values[name === 'job' ? 'jobName' : name] = query.getAll(name)
    else if (name.startsWith(LABEL)) labels.push([name.slice(LABEL.length), value()])
    else if (name !== 'limit') values[name] = readOne(name, value())
  }
  return labels.length === 0 ? values : { ...values, labels: Object.fromEntries(labels) }
}

function readOne(name: string, text: string): string | number {
  return TIMES.includes(name) && /^\d{1,15}$/.test(text) ? Number(text) : text
}

function readLimit(text: string | null): number {
  if (text === null) return LIMIT_DEFAULT
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > LIMIT_MAX)
    throw new DurablyError('invalid_argument', `limit must be a whole number from 1 to ${LIMIT_MAX}, got ${JSON.stringify(text)}`)
  return limit
}
