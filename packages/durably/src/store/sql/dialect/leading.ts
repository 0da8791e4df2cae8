// Of the store: which of several instances executes, where that is to be decided.
import type { Dialect, Driver } from 'kysely'
import { loaded } from '../../../model/env.ts'
import { lateLeadership } from '../../late-leadership.ts'
import type { LeadingDialect, OpenLeadership } from '../../leadership.ts'
import type { OpenedSql } from '../opened-sql.ts'
import type { Session } from '../session.ts'
import { hasSqlocalClient, isPath } from './sqlite/sqlocal-shape.ts'

/** A dialect may know it. SQLocal's tabs share a file too, but it does not say so. */
export function leading({ dialect, driver, env, tablePrefix }: OpenedSql, session: Session): { openLeadership?: OpenLeadership } {
  if (isLeading(dialect)) return { openLeadership: (parts) => dialect.openLeadership({ ...parts, tablePrefix }) }
  const path = sqlocalPath(driver)
  if (!isPath(path)) return {}
  const load = () => loaded(env, () => import('./sqlite/sqlocal-leadership.ts'))
  return {
    openLeadership: (parts) => lateLeadership(async () => (await load()).openSqlocalLeadership({ ...parts, tablePrefix, path, session })),
  }
}

/** Can be said before the store is loaded. */
export function isLed({ dialect, driver }: OpenedSql): boolean {
  return isLeading(dialect) || isPath(sqlocalPath(driver))
}

function isLeading(dialect: Dialect): dialect is Dialect & LeadingDialect {
  return 'openLeadership' in dialect
}

function sqlocalPath(driver: Driver): string | undefined {
  return hasSqlocalClient(driver) ? driver.client.config?.databasePath : undefined
}
