// `@coji/durably/browser` — SQLite in a browser's own files (OPFS), for any number of tabs.
import type { Dialect } from 'kysely'
import { DurablyError } from '../model/errors.ts'
import { BrowserDialect } from './browser-dialect.ts'

/** The options of `browserDialect`. */
export interface BrowserOptions {
  /**
   * `full`: what was acknowledged survives a power cut. `relaxed`: it survives a crash of the browser, but a power cut may lose the last
   * commits; it is faster. Default `full`.
   */
  durability?: 'full' | 'relaxed'
}

const NAME_CHARS_MAX = 100

/**
 * A Kysely dialect for a database that the tabs of this origin share. One of them opens it, at first use.
 *
 * @example const durably = createDurably({ dialect: browserDialect('app') })
 */
export function browserDialect(name: string, { durability = 'full' }: BrowserOptions = {}): Dialect {
  if (typeof name !== 'string' || name === '' || name.length > NAME_CHARS_MAX)
    throw invalid(
      `browserDialect() needs a name of 1 to ${NAME_CHARS_MAX} characters, e.g. browserDialect("app"), got ${JSON.stringify(name)}`,
    )
  if (durability !== 'full' && durability !== 'relaxed')
    throw invalid(`durability must be "full" or "relaxed", got ${JSON.stringify(durability)}`)
  return new BrowserDialect({ name, synchronous: durability === 'full' ? 'FULL' : 'NORMAL' })
}

function invalid(message: string): DurablyError {
  return new DurablyError('invalid_config', message)
}
