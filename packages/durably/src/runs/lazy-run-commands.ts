// Loaded with the first command: a page that triggers runs and shows them may never send one.
import { lazyCode, lazyVerbs, once } from '../model/lazy.ts'
import type { RunCommandDeps, RunCommands } from './run-commands.ts'

export const runCommands = lazyCode(async () => (await import('./run-commands.ts')).RunCommands)

export function lazyRunCommands(deps: RunCommandDeps): RunCommands {
  return lazyVerbs(once(async () => new (await runCommands(deps.env))(deps)))
}
