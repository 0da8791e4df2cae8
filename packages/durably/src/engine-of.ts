import type { Durably } from './durably.ts'
import { ENGINE, type Engine } from './engine.ts'
import { DurablyError } from './model/errors.ts'

/** A bundler may put a copy of this package into each of its bundles. An instance of one copy is nothing that another could use. */
export function engineOf(durably: Durably, caller: string): Engine {
  const engine = (durably as Durably | null | undefined)?.[ENGINE]
  if (engine) return engine
  throw new DurablyError(
    'invalid_argument',
    typeof (durably as Partial<Durably> | null | undefined)?.defineJob === 'function'
      ? `${caller} got an instance of another copy of @coji/durably; a bundler must leave the package outside, in Next.js with serverExternalPackages: ['@coji/durably']`
      : `${caller} takes what createDurably returned as its first argument`,
  )
}
