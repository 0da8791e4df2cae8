import { createHash } from 'node:crypto'
import { type Driver, PostgresDialect, type PostgresDialectConfig } from 'kysely'
import { DurablyError } from '../model/errors.ts'
import type { Notifier, NotifierDeps, NotifyingDialect } from '../store/notifier.ts'
import type { PlacedDialect } from '../store/placed-dialect.ts'
import type { SchemaDialect } from '../store/sql/open-sql.ts'
import type { ConnectionLimit } from './connection-limit.ts'
import { limitedDriver } from './limited-driver.ts'
import { listenClientsFor } from './listen-client.ts'
import { PostgresNotifier } from './notifier.ts'
import type { PostgresPool } from './pool.ts'

/** The longest name that Postgres gives to anything. */
export const NAME_BYTES_MAX = 63

export interface Places {
  /** The pool or the URL of the store. */
  place: string | PostgresPool
  listenUrl: string | undefined
  /** Where the tables are; changes in one schema are not delivered to instances of another. */
  schema: string | undefined
}

/** Kysely's dialect for Postgres, with a notifier and a limit of connections. */
export class NotifyingPostgresDialect extends PostgresDialect implements NotifyingDialect, PlacedDialect, SchemaDialect {
  readonly #places: Places
  readonly #limit: () => ConnectionLimit

  constructor(config: PostgresDialectConfig, places: Places, limit: () => ConnectionLimit) {
    super(config)
    this.#places = places
    this.#limit = limit
  }

  get place(): string {
    const { place } = this.#places
    if (typeof place !== 'string' || !URL.canParse(place)) return 'postgres'
    const { host, pathname } = new URL(place)
    return `postgres ${host}${pathname}`
  }

  get schema(): string | undefined {
    return this.#places.schema
  }

  override createDriver(): Driver {
    return limitedDriver(super.createDriver(), this.#limit())
  }

  openNotifier(deps: NotifierDeps): Notifier {
    const { place, listenUrl, schema } = this.#places
    const makeClient = listenClientsFor(listenUrl ?? place)
    if (!makeClient) return noNotifier(deps)
    return new PostgresNotifier({
      ...deps,
      channel: channelName(schema === undefined ? deps.channel : `${schema}.${deps.channel}`),
      makeClient,
      place,
    })
  }
}

/** Postgres limits the length of a channel's name: LISTEN would truncate a longer one, and pg_notify refuses it. */
function channelName(channel: string): string {
  if (Buffer.byteLength(channel) <= NAME_BYTES_MAX) return channel
  return `durably_${createHash('sha256').update(channel).digest('hex').slice(0, 32)}`
}

function noNotifier({ env, report }: NotifierDeps): Notifier {
  const error = new DurablyError(
    'notifications_unavailable',
    'there are no notifications, because the settings of this pool cannot be read. Give postgres() a Pool of pg, or the URL of the database as listenUrl. Polling goes on',
  )
  env.defer(() => report(error))
  return { notify: () => {}, flush: async () => {}, close: async () => {} }
}
