// Of the store: which of several instances executes, where that is to be decided.
import { loaded } from '../../../model/env.ts'
import { lateLeadership } from '../../lazy-leadership.ts'
import type { OpenLeadership } from '../../leadership.ts'
import type { OpenedSql } from '../open-sql.ts'
import { isPath } from '../sqlite/transport/sqlocal-shape.ts'
import { isLeading, sqlocalPath } from './leading.ts'
import type { Session } from './session.ts'

export function leading({ dialect, driver, env, tablePrefix }: OpenedSql, session: Session): { openLeadership?: OpenLeadership } {
  if (isLeading(dialect)) return { openLeadership: (parts) => dialect.openLeadership({ ...parts, tablePrefix }) }
  const path = sqlocalPath(driver)
  if (!isPath(path)) return {}
  const load = () => loaded(env, () => import('../sqlite/transport/sqlocal-leadership.ts'))
  return {
    openLeadership: (parts) => lateLeadership(async () => (await load()).openSqlocalLeadership({ ...parts, tablePrefix, path, session })),
  }
}
