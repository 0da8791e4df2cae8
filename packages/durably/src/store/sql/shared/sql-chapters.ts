// The chapters of a store in an SQL database. Wires them; holds no SQL of its own.

import type { OpenedSql, SqlStore } from '../open-sql.ts'
import type { Database } from './database.ts'
import type { SqlContext } from './deps.ts'
import { sqlEvents } from './events.ts'
import { sqlLogs } from './logs.ts'
import { migrate } from './migrate.ts'
import { leading } from './open-leadership.ts'
import { sqlRuns } from './runs.ts'
import { sqlSignals } from './signals.ts'
import { sqlSteps } from './steps.ts'
import { transact } from './transact.ts'

export function sqlChapters(opened: OpenedSql, database: Database): SqlStore {
  const { db, env, tables, eventLog } = opened
  const { session, syntax, isKeyTaken, classify, writes, ownerQueries, checkRequirements } = database
  const context: SqlContext = { db, session, env, tables, syntax, eventLog, isKeyTaken, classify }
  return {
    db,
    runs: sqlRuns(context, writes(context)),
    steps: sqlSteps(context),
    events: sqlEvents(context),
    logs: sqlLogs(context),
    signals: sqlSignals(context),
    eventLog,
    transact: transact(context, ownerQueries(context)),
    ...leading(opened, session),
    async migrate() {
      await checkRequirements()
      await migrate(context)
    },
    close: () => session.close(),
  }
}
