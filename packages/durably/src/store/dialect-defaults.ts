import type { Env } from '../model/env.ts'

/** What suits a database better than the defaults of `createDurably`; an option that the user gives wins. */
export interface DialectDefaults {
  staleThreshold?: number
  env?: () => Env
}

export interface TunedDialect {
  readonly defaults: DialectDefaults
}
