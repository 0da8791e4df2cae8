import type { OpenLeadership } from '../../leadership.ts'
import type { OpenedSql, SqlStore } from '../open-sql.ts'
import { assembleStore } from '../shared/assemble-store.ts'
import { groupedCreate } from '../shared/grouped-create.ts'
import type { Session } from '../shared/session.ts'
import { applyWrites } from './apply.ts'
import { claimRuns, claims } from './claim.ts'
import { classifyError } from './classify-error.ts'
import { createRuns } from './create.ts'
import { lazyCluster } from './lazy-cluster.ts'
import { lazyCommands } from './lazy-commands.ts'
import { ownerQueries } from './owner-statements.ts'
import { SqliteSession } from './session.ts'
import { sqliteSyntax } from './syntax.ts'
import { kyselyTransport } from './transport/kysely-transport.ts'
import type { Transport } from './transport/transport.ts'

/** For a driver other than those of `sqlite()` and `browserDialect()`. */
interface OtherDriver {
  transport?: Transport
  /** Called before the first use of the connection. */
  prepare?: () => Promise<void>
  checkRequirements?: (session: Session) => Promise<void>
  leadership?: ((session: Session) => OpenLeadership) | undefined
}

/**
 * Each operation is a batch of statements in one transaction, for a database that lets one writer in at a time. Without a transport of its
 * own it goes through the Kysely dialect, whose driver must reset a statement that met a lock, as that of `sqlite()` does.
 */
export function sqliteStore(
  opened: OpenedSql,
  { transport = kyselyTransport(opened), prepare, checkRequirements, leadership }: OtherDriver = {},
): SqlStore {
  const session = new SqliteSession(transport, opened.env, prepare)
  return assembleStore(opened, {
    session,
    syntax: sqliteSyntax,
    runVerbs: (deps) => ({
      create: groupedCreate(createRuns(deps)),
      claim: claimRuns(deps),
      apply: applyWrites(deps),
    }),
    commands: async (deps) => (await lazyCommands(deps.env))(deps),
    ownerQueries,
    cluster: async (deps) => (await lazyCluster(deps.env))(deps, claims),
    classify: classifyError,
    checkRequirements,
    openLeadership: leadership?.(session),
  })
}
