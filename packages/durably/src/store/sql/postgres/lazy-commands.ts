import { lazyCode } from '../../../model/lazy.ts'

export const lazyCommands = lazyCode(async () => (await import('./run-commands.ts')).postgresCommands)
