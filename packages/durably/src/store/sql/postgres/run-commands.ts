import type { CommandVerbs } from '../shared/assemble-store.ts'
import type { LazyDeps } from '../shared/lazy-deps.ts'
import { cancelRuns } from './cancel.ts'
import { clientMoves } from './client-moves.ts'
import { reapRuns } from './reap.ts'

export function postgresCommands(deps: LazyDeps): CommandVerbs {
  return { cancel: cancelRuns(deps), ...clientMoves(deps), reap: reapRuns(deps) }
}
