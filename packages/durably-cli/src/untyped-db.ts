import type { Durably } from '@coji/durably'
import type { Kysely } from 'kysely'

/** The database of an instance, for statements about tables whose names are known only when they run. */
export function untypedDb({ db }: Durably): Kysely<unknown> {
  return db as unknown as Kysely<unknown>
}
