import type { Contender } from './contender.ts'
import { absurd } from './contenders/absurd.ts'
import { bullmqPostgres, bullmqRedis } from './contenders/bullmq.ts'
import { dbos } from './contenders/dbos.ts'
import { durably, durablyOnBetterSqlite, durablyOnLibsql, durablyWithoutEvents } from './contenders/durably.ts'
import { durably015 } from './contenders/durably-0-15.ts'
import { graphileWorker } from './contenders/graphile-worker.ts'
import { durablyTasks, fastqPromise, pQueue } from './contenders/memory.ts'
import { openworkflowPostgres, openworkflowSqlite } from './contenders/openworkflow.ts'
import { pgBoss } from './contenders/pg-boss.ts'
import { plainjob } from './contenders/plainjob.ts'
import { rawPostgres } from './contenders/raw-postgres.ts'
import { rawBetterSqlite, rawNodeSqlite } from './contenders/raw-sqlite.ts'

export const CONTENDERS = {
  rawNodeSqlite,
  rawBetterSqlite,
  rawPostgres,
  durably,
  durablyWithoutEvents,
  durablyOnBetterSqlite,
  durablyOnLibsql,
  durablyTasks,
  durably015,
  plainjob,
  openworkflowSqlite,
  openworkflowPostgres,
  dbos,
  absurd,
  graphileWorker,
  pgBoss,
  bullmqPostgres,
  bullmqRedis,
  pQueue,
  fastqPromise,
} satisfies Record<string, Contender>

export type ContenderId = keyof typeof CONTENDERS
