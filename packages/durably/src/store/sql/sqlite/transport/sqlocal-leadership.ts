// Which of the tabs that share a SQLocal file executes: the one that has the lock beside the file's own.
// Where they share no file, as in memory or on a server, everybody does.
import { CompiledQuery } from 'kysely'
import { LeaderLock } from '../../../leader-lock.ts'
import type { Leadership, LeadershipParts, Term } from '../../../leadership.ts'
import type { Session } from '../../shared/session.ts'

interface SqlocalLeadershipParts extends LeadershipParts {
  path: string
  session: Session
}

export async function openSqlocalLeadership({ path, session, env, leaseMs, tablePrefix }: SqlocalLeadershipParts): Promise<Leadership> {
  if (!globalThis.navigator?.locks || !(await isFile(session))) return EVERYBODY
  return new LeaderLock({ env, leaseMs, name: `durably:${path}:lead:${tablePrefix}` })
}

/** SQLite names the file that it has open. */
async function isFile(session: Session): Promise<boolean> {
  const [main] = await session.read(CompiledQuery.raw('pragma database_list'))
  return Boolean(main?.file)
}

const FOR_EVER: Term = { inherits: false, ended: new AbortController().signal, release() {} }
const EVERYBODY: Leadership = { take: async () => FOR_EVER, takeIfFree: async () => FOR_EVER }
