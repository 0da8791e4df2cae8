// Puts the chapters of an SQL store together. What differs between databases comes as a `Database`.
import { sql } from 'kysely'
import type { DurablyError } from '../../../model/errors.ts'
import { lazyVerbs, once } from '../../../model/lazy.ts'
import type { ClusterStore } from '../../cluster/cluster.ts'
import type { EventStore } from '../../events.ts'
import type { OpenLeadership } from '../../leadership.ts'
import type { RunStore } from '../../runs.ts'
import type { StepStore } from '../../steps.ts'
import type { OpenedSql, SqlStore } from '../open-sql.ts'
import { adoptRuns } from './claim.ts'
import type { SqlDeps } from './deps.ts'
import { sqlEvents } from './events.ts'
import { chunked, jsonRows } from './json-rows.ts'
import type { LazyDeps } from './lazy-deps.ts'
import { lazyArchive, lazyLogs, lazyRareQueries, lazySignals } from './lazy-queries.ts'
import { userTransactions } from './lazy-user-transactions.ts'
import { isLeading } from './leading.ts'
import { logValues } from './log-values.ts'
import { migrate } from './migrate.ts'
import { awokenParent } from './owner-moves.ts'
import type { OwnerQueries, WriteAnswer } from './owner-values.ts'
import { probeRuns } from './probe.ts'
import { runQueries } from './queries.ts'
import { reader, runRow } from './rows.ts'
import type { Session } from './session.ts'
import { statementsOf } from './statement.ts'
import { sqlSteps } from './steps.ts'
import type { Syntax } from './syntax.ts'

/** The operations that each database has its own statements for. */
export type RunVerbs = Pick<RunStore, 'create' | 'claim' | 'apply'>

/** What people do to a run, and taking back the runs of lost workers: a page that loses none does without. */
export type CommandVerbs = Pick<RunStore, 'cancel' | 'retry' | 'delete' | 'reap'>

/** What `sqlite/store.ts` and `postgres/store.ts` bring. */
export interface Database {
  session: Session
  syntax: Syntax
  runVerbs(deps: SqlDeps): RunVerbs
  /** Loaded with the first command, or when the first worker is lost (ADR 0009). */
  commands(deps: LazyDeps): Promise<CommandVerbs>
  /** `answer`: for a transaction that goes on only if the write was accepted. On Postgres a statement always says so. */
  ownerQueries(deps: SqlDeps, answer?: WriteAnswer): OwnerQueries
  /** Reads of one turn share a statement. Only where each one is a round trip. */
  groupedReads?: (deps: SqlDeps) => GroupedReads
  /** Loaded with the first operation of the chapter. */
  cluster(deps: LazyDeps): Promise<ClusterStore>
  /** The driver's error as one of ours. */
  classify(thrown: unknown): DurablyError
  /** A statement was refused because one before it had failed, whose error the user's function caught. Only Postgres does that. */
  isAborted?: (thrown: unknown) => boolean
  /** The database chose this one of several transactions to be undone. Only Postgres does: SQLite has one writer at a time. */
  isConflict?: (thrown: unknown) => boolean
  /** Rejects when the database is too old, or lacks what the store needs. */
  checkRequirements?: ((session: Session) => Promise<void>) | undefined
  /** Which of several instances executes; without it, the dialect may know. */
  openLeadership?: OpenLeadership | undefined
}

/** The reads by which event logs are followed. */
export interface GroupedReads {
  runs: Pick<RunStore, 'get'>
  steps: Pick<StepStore, 'find'>
  events: Pick<EventStore, 'list'>
}

export function assembleStore(opened: OpenedSql, database: Database): SqlStore {
  const { db, env, tables, eventLog } = opened
  const { session, syntax, runVerbs, checkRequirements, openLeadership = leadershipOf(opened) } = database
  const into = {
    events: sql`${tables.events} (run_id, seq, event_type, payload, created_at)`,
    steps: sql`${tables.steps} (id, run_id, name, "index", status, output, error, failure, started_at, completed_at, lease_generation)`,
    logs: sql`${tables.logs} (id, run_id, step_name, level, message, data, timestamp)`,
  }
  const deps: SqlDeps = { statement: statementsOf(db), db, session, env, tables, into, syntax, eventLog }
  const grouped = database.groupedReads?.(deps)
  const transact = once(async () => (await userTransactions(env)).transact(deps, database))
  const lazyDeps: LazyDeps = { ...deps, runRow, reader, chunked, jsonRows, logValues, awokenParent }
  const commands = lazyVerbs(once(() => database.commands(lazyDeps)))
  const rare = lazyVerbs(once(async () => (await lazyRareQueries(env)).rareQueries(lazyDeps)))
  const signals = lazyVerbs(once(async () => (await lazySignals(env)).sqlSignals(lazyDeps)))
  return {
    db,
    runs: {
      ...runVerbs(deps),
      cancel: (...args) => commands.cancel(...args),
      retry: (...args) => commands.retry(...args),
      delete: (...args) => commands.delete(...args),
      reap: (...args) => commands.reap(...args),
      adopt: adoptRuns(deps),
      ...runQueries(deps),
      ...grouped?.runs,
      probe: probeRuns(deps),
      getChild: (...args) => rare.getChild(...args),
      getHolder: (...args) => rare.getHolder(...args),
      list: (...args) => rare.list(...args),
      count: (...args) => rare.count(...args),
      dueJobs: (...args) => rare.dueJobs(...args),
      purge: (...args) => rare.purge(...args),
      oldestDue: (...args) => rare.oldestDue(...args),
      wasAlive: (...args) => rare.wasAlive(...args),
    },
    steps: { ...sqlSteps(deps), ...grouped?.steps },
    events: { ...sqlEvents(deps), ...grouped?.events },
    logs: lazyVerbs(once(async () => (await lazyLogs(env)).sqlLogs(lazyDeps))),
    signals: { send: (...args) => signals.send(...args), list: (...args) => signals.list(...args) },
    cluster: lazyVerbs(once(() => database.cluster(lazyDeps))),
    archive: lazyVerbs(once(async () => (await lazyArchive(env)).sqlArchive(deps))),
    eventLog,
    transact: async (...args) => (await transact())(...args),
    ...(openLeadership && { openLeadership }),
    async migrate() {
      await checkRequirements?.(session)
      await migrate(deps)
    },
    close: () => session.close(),
  }
}

function leadershipOf({ dialect, tablePrefix }: OpenedSql): OpenLeadership | undefined {
  return isLeading(dialect) ? (deps) => dialect.openLeadership({ ...deps, tablePrefix }) : undefined
}
