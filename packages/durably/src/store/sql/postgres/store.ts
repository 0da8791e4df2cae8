import type { OpenedSql, SqlStore } from '../open-sql.ts'
import { assembleStore } from '../shared/assemble-store.ts'
import { groupedCreate } from '../shared/grouped-create.ts'
import { applyWrites } from './apply.ts'
import { claimRuns, claims } from './claim.ts'
import { classifyError, isAborted, isConflict } from './classify-error.ts'
import { createRuns } from './create.ts'
import { lazyCluster } from './lazy-cluster.ts'
import { lazyCommands } from './lazy-commands.ts'
import { ownerQueries } from './owner-statements.ts'
import { checkRequirements, ensureSchema } from './requirements.ts'
import { openSession } from './session.ts'
import { postgresSyntax } from './syntax.ts'
import { groupedReads } from './transport/grouped-reads.ts'

/**
 * Each operation is one statement: one round trip, one transaction.
 *   PG1. All parts of a statement see the database as it was at its start. What happened while it waited for a lock is
 *        seen only in the row that it locked, so an operation decides by that row alone.
 *   PG2. The run's row is locked before anything else is written, and what is written comes out of that lock (R2).
 */
export function postgresStore(opened: OpenedSql): SqlStore {
  return assembleStore(opened, {
    session: openSession(opened),
    syntax: postgresSyntax(opened.clock),
    runVerbs: (deps) => ({
      create: groupedCreate(createRuns(deps)),
      claim: claimRuns(deps),
      apply: applyWrites(deps),
    }),
    commands: async (deps) => (await lazyCommands(deps.env))(deps),
    ownerQueries,
    groupedReads,
    cluster: async (deps) => (await lazyCluster(deps.env))(deps, claims),
    classify: classifyError,
    isAborted,
    isConflict,
    async checkRequirements(session) {
      await checkRequirements(session)
      if (opened.schema) await ensureSchema(session, opened.schema)
    },
  })
}
