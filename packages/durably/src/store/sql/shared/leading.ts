// Which of several instances executes: whether that is to be decided. It can be said before the store is loaded.
import type { Dialect, Driver } from 'kysely'
import type { LeadingDialect } from '../../leadership.ts'
import type { OpenedSql } from '../open-sql.ts'
import { hasSqlocalClient, isPath } from '../sqlite/transport/sqlocal-shape.ts'

/** A dialect may know it. SQLocal's tabs share a file too, but it does not say so. */
export function isLed({ dialect, driver }: OpenedSql): boolean {
  return isLeading(dialect) || isPath(sqlocalPath(driver))
}

export function isLeading(dialect: Dialect): dialect is Dialect & LeadingDialect {
  return 'openLeadership' in dialect
}

export function sqlocalPath(driver: Driver): string | undefined {
  return hasSqlocalClient(driver) ? driver.client.config?.databasePath : undefined
}
