import {
  type DatabaseIntrospector,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type Kysely,
  type QueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { DialectDefaults, TunedDialect } from '../store/dialect-defaults.ts'
import type { LeadershipDeps, LeadingDialect } from '../store/leadership.ts'
import type { NotifierDeps, NotifyingDialect } from '../store/notifier.ts'
import type { TabRole } from '../store/tab-role.ts'
import { BrowserDriver, type BrowserPlace } from './browser-driver.ts'
import { tabLeadership } from './tab-leadership.ts'
import { tabNotifier } from './tab-notifier.ts'
import { WorkerTimers } from './worker-timers.ts'

const LEASE_MS = 120_000

/** SQLite in the browser: one tab, the host, has the database open, and all tabs use it. */
export class BrowserDialect implements Dialect, NotifyingDialect, LeadingDialect, TunedDialect {
  /** A statement that failed is reset at once, so it holds no lock. */
  readonly resetsStatements = true
  /** The lease is long, because the timers of a hidden page may fire a minute late. */
  readonly defaults: DialectDefaults
  readonly #place: BrowserPlace
  readonly #timers = new WorkerTimers()
  #driver: BrowserDriver | null = null

  constructor(place: BrowserPlace) {
    this.#place = place
    this.defaults = { staleThreshold: LEASE_MS, env: () => this.#timers.env() }
  }

  openNotifier(deps: NotifierDeps) {
    return tabNotifier(this.#place.name, deps)
  }

  openLeadership(deps: LeadershipDeps) {
    const isReachable = async () => (await this.#driver?.client?.isAnswered()) ?? true
    return tabLeadership({ ...deps, name: this.#place.name, timers: this.#timers, isReachable })
  }

  get role(): TabRole {
    return this.#driver?.role ?? 'idle'
  }

  createDriver(): Driver {
    this.#driver = new BrowserDriver(this.#place)
    return this.#driver
  }

  createQueryCompiler(): QueryCompiler {
    return new SqliteQueryCompiler()
  }

  createAdapter(): DialectAdapter {
    return new SqliteAdapter()
  }

  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new SqliteIntrospector(db)
  }
}
