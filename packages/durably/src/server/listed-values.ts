// Lists without values (`values=false`). If `authorize` may decide by the values of a run, it gets them all the same: a caller must not see more runs by asking
// for less of them.
import type { Run } from '../model/run.ts'
import type { PageFilter } from './filter-query.ts'
import type { ServerConfig } from './options.ts'

interface ListedValues {
  /** What is asked of the store. */
  filter: PageFilter
  /** The run as the caller asked for it, once it is authorized. */
  listed<R extends Run>(run: R): R
}

export function listedValues({ authorizesByValues }: Pick<ServerConfig, 'authorizesByValues'>, asked: PageFilter): ListedValues {
  if (asked.values !== false || !authorizesByValues) return { filter: asked, listed: (run) => run }
  return {
    filter: { ...asked, values: true },
    listed: (run) => ({ ...run, payload: undefined, ...(run.status === 'completed' && { output: undefined }) }),
  }
}
