// What an instance does about runs that ended long ago, whose code is loaded if it is to do something (ADR 0009).
import { lazyCode, lazyVerbs, once } from '../model/lazy.ts'
import { lazyStore } from '../store/lazy-store.ts'
import type { Store } from '../store/store.ts'
import type { Tidying, TidyingDeps } from './tidying.ts'

export const tidyingCode = lazyCode(() => import('./tidying.ts'))

/** Null where runs are neither archived nor removed. */
export function lazyTidying(deps: TidyingDeps): Tidying | null {
  if (!deps.archive && !deps.retention[0]) return null
  return lazyVerbs(once(async () => new (await tidyingCode(deps.env)).Tidying(deps)))
}

/** The store, with what was moved to files. */
export function withArchive(store: Store, { archive, env }: Pick<TidyingDeps, 'archive' | 'env'>): Store {
  if (!archive) return store
  return lazyStore({ env, eventLog: store.eventLog, load: async () => (await tidyingCode(env)).archivedStore(store, env, archive.files) })
}
