import type { CommandOptions } from '../store/runs.ts'
import type { Call } from './call.ts'
import { ifMatch } from './if-match.ts'
import { actorOf } from './principal.ts'

/** Which version the caller has seen, and who it is. */
export async function commandOptions(call: Call): Promise<CommandOptions> {
  return { ...ifMatch(call.request), ...(await actorOf(call)) }
}
