// Whether one of several instances leads and executes. This is known before the store is loaded.
import type { Dialect, Driver } from 'kysely'
import type { LeadingDialect } from '../../leadership.ts'
import type { OpenedSql } from '../open-sql.ts'
import { hasSqlocalClient, isPath } from '../sqlite/transport/sqlocal-shape.ts'

/** A dialect may have a leader of its own. SQLocal has none, but its tabs share a file. */
export function isLed({ dialect, driver }: OpenedSql): boolean {
  return isLeading(dialect) || isPath(sqlocalPath(driver))
}

export function isLeading(dialect: Dialect): dialect is Dialect & LeadingDialect {
  return 'openLeadership' in dialect
}

export function sqlocalPath(driver: Driver): string | undefined {
  return hasSqlocalClient(driver) ? driver.client.config?.databasePath : undefined
}
