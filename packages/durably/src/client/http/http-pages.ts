// Lists of a server, which limits its pages: more are asked for until there are enough.
import type { Log } from '../../model/log.ts'
import type { Run } from '../../model/run.ts'
import type { RunFilter } from '../../model/run-filter.ts'
import type { Step } from '../../model/step.ts'

/** The largest page that a server returns. */
const PAGE_MAX = 200

export interface Listed {
  runs: Run[]
  steps: Step[]
  logs: Log[]
}

export interface Page extends Listed {
  nextCursor: string | null
  previousCursor: string | null
}

export async function inPages<K extends keyof Listed>(
  field: K,
  ask: (query: string) => Promise<Page>,
  { limit = Number.POSITIVE_INFINITY, cursor: from, ...rest }: RunFilter = {},
): Promise<Listed[K]> {
  const isBackwards = rest.direction === 'previous'
  const all: unknown[] = []
  for (let cursor = from; ; ) {
    const page = await ask(query({ ...rest, limit: Math.min(PAGE_MAX, limit - all.length), cursor }))
    if (isBackwards) all.unshift(...page[field])
    else all.push(...page[field])
    cursor = (isBackwards ? page.previousCursor : page.nextCursor) ?? undefined
    if (cursor === undefined || all.length >= limit) return all as Listed[K]
  }
}

type Asked = Omit<RunFilter, 'cursor'> & { cursor?: string | undefined }

/** A filter as the query parameters of the server. It refuses an empty list there: an empty text is no value. */
export function query({ labels, ...filter }: Asked): string {
  const parameters = new URLSearchParams()
  const add = (field: string, value: unknown) => {
    for (const one of (value as readonly unknown[] | undefined)?.length === 0 ? [''] : [value].flat())
      if (one !== undefined) parameters.append(field, one instanceof Date ? one.toISOString() : String(one))
  }
  for (const [field, value] of Object.entries(filter)) add(field === 'jobName' ? 'job' : field, value)
  for (const name in labels) add(`label.${name}`, labels[name])
  const text = String(parameters)
  return text && `?${text}`
}
