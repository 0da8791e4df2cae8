// The filter of a list of runs, as query parameters: by the names of its fields, `jobName` as `job`, and a label as `label.` and its name. Lists
// of values are given as often as there are values.
import { checkFilter } from '../model/check-filter.ts'
import { checkName } from '../model/name.ts'
import type { RunConditions, RunFilter } from '../model/run-filter.ts'
import { RUN_FILTER } from '../runs/filter-keys.ts'
import type { Call } from './call.ts'
import { principalOf, withOwnKeys } from './principal.ts'
import { queryParameter, readLimit, refuseUnknown, timeParameter } from './query.ts'

export type PageFilter = RunConditions & Pick<RunFilter, 'cursor' | 'direction' | 'values'> & { limit: number }

/** Keys are those of the caller's principal. */
export async function pageFilter(call: Call): Promise<PageFilter> {
  const { query } = call
  refuseUnknown(query, PARAMETERS, LABEL)
  const filter = { ...valuesOf(query), limit: readLimit(query) } as PageFilter
  checkFilter(filter)
  for (const jobName of [filter.jobName ?? []].flat()) checkName('job', jobName)
  return withOwnKeys(await principalOf(call), filter)
}

const SEVERAL = ['status', 'phase', 'clusterState', 'job']
const TIMES = ['createdAfter', 'createdBefore', 'finishedAfter', 'finishedBefore']
const LABEL = 'label.'
const { jobName: _, labels: __, ...SAME_NAME } = RUN_FILTER
const PARAMETERS = ['job', ...Object.keys(SAME_NAME)]

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

function readOne(name: string, text: string): string | number | boolean {
  if (name === 'values' && /^(true|false)$/.test(text)) return text === 'true'
  return TIMES.includes(name) ? timeParameter(text) : text
}
