import type { CommandVerbs } from '../shared/assemble-store.ts'
import type { LateDeps } from '../shared/late-deps.ts'
import { cancelRuns } from './cancel.ts'
import { clientMoves } from './client-moves.ts'

export function sqliteCommands(deps: LateDeps): CommandVerbs {
  return { cancel: cancelRuns(deps), ...clientMoves(deps) }
}
