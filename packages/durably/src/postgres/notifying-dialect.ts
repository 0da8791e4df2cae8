import { type Driver, PostgresDialect, type PostgresDialectConfig } from 'kysely'
import { DurablyError } from '../model/errors.ts'
import type { Notifier, NotifierParts, NotifyingDialect } from '../store/notifier.ts'
import { channelName } from './channel-name.ts'
import type { ConnectionLimit } from './connection-limit.ts'
import { limitedDriver } from './limited-driver.ts'
import { listenClientsFor } from './listen-client.ts'
import { PostgresNotifier } from './notifier.ts'
import type { PostgresPool } from './pool.ts'

export interface Places {
  /** Where the store is. */
  place: string | PostgresPool
  listenUrl: string | undefined
}

/** Kysely's dialect, on a database that can also be listened to. */
export class NotifyingPostgresDialect extends PostgresDialect implements NotifyingDialect {
  readonly #places: Places
  readonly #limit: () => ConnectionLimit

  constructor(config: PostgresDialectConfig, places: Places, limit: () => ConnectionLimit) {
    super(config)
    this.#places = places
    this.#limit = limit
  }

  override createDriver(): Driver {
    return limitedDriver(super.createDriver(), this.#limit())
  }

  openNotifier(deps: NotifierParts): Notifier {
    const { place, listenUrl } = this.#places
    const makeClient = listenClientsFor(listenUrl ?? place)
    if (!makeClient) return noNotifier(deps)
    return new PostgresNotifier({ ...deps, channel: channelName(deps.channel), makeClient, place })
  }
}

function noNotifier({ env, report }: NotifierParts): Notifier {
  const error = new DurablyError(
    'notifications_unavailable',
    'no notifications: the pool does not say how to open a connection of its own. Give postgres() a Pool of pg, or the URL of the database as listenUrl. Polling goes on',
  )
  env.defer(() => report(error))
  return { notify: () => {}, flush: async () => {}, close: async () => {} }
}
