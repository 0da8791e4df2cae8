// Which of the tabs that share a SQLocal file executes: the one that holds a Web Lock beside the lock of the file.
// Where tabs share no file, as in memory or on a server, every one of them may execute.
import { CompiledQuery } from 'kysely'
import { lazyLeadership } from '../../../lazy-leadership.ts'
import { LeaderLock } from '../../../leader-lock.ts'
import type { Leadership, OpenLeadership, Term } from '../../../leadership.ts'
import type { OpenedSql } from '../../open-sql.ts'
import { isLeading, sqlocalPath } from '../../shared/leading.ts'
import type { Session } from '../../shared/session.ts'
import { isPath } from './sqlocal-shape.ts'

export function sqlocalLeadership({ dialect, driver, tablePrefix }: OpenedSql): ((session: Session) => OpenLeadership) | undefined {
  const path = sqlocalPath(driver)
  if (isLeading(dialect) || !isPath(path)) return undefined
  return (session) =>
    ({ env, leaseMs }) =>
      lazyLeadership(async () => {
        if (!globalThis.navigator?.locks || !(await isFile(session))) return EVERYBODY
        return new LeaderLock({ env, leaseMs, name: `durably:${path}:lead:${tablePrefix}` })
      })
}

/** SQLite names the file that it has open. */
async function isFile(session: Session): Promise<boolean> {
  const [main] = await session.read(CompiledQuery.raw('pragma database_list'))
  return Boolean(main?.file)
}

const FOR_EVER: Term = { inherits: false, ended: new AbortController().signal, release() {} }
const EVERYBODY: Leadership = { take: async () => FOR_EVER, takeIfFree: async () => FOR_EVER }
