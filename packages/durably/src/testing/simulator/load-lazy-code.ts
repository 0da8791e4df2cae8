import { tidyingCode } from '../../archive/lazy-archive.ts'
import { clusterCode } from '../../cluster/lazy-cluster.ts'
import { followedLogs } from '../../events/lazy-followed-logs.ts'
import { logLineWriter } from '../../events/lazy-log-lines.ts'
import type { Env } from '../../model/env.ts'
import { runCommands } from '../../runs/lazy-run-commands.ts'
import { lazyRunQuery } from '../../runs/lazy-run-query.ts'
import { memoryCluster } from '../../store/memory/lazy-cluster.ts'
import { lazyCluster as postgresCluster } from '../../store/sql/postgres/lazy-cluster.ts'
import { lazyCommands as postgresCommands } from '../../store/sql/postgres/lazy-commands.ts'
import { lazyLogs, lazyRareQueries, lazySignals } from '../../store/sql/shared/lazy-queries.ts'
import { userTransactions } from '../../store/sql/shared/lazy-user-transactions.ts'
import { migrations } from '../../store/sql/shared/migrate.ts'
import { lazyCluster as sqliteCluster } from '../../store/sql/sqlite/lazy-cluster.ts'
import { lazyCommands as sqliteCommands } from '../../store/sql/sqlite/lazy-commands.ts'
import { limitCode } from '../../worker/lazy-limits.ts'
import { workerClass } from '../../worker/loop/lazy-worker.ts'
import { otherSteps, streamSteps } from '../../worker/steps/lazy-steps.ts'

const LAZY_CODE = [
  ...[clusterCode, memoryCluster, sqliteCluster, postgresCluster, sqliteCommands, postgresCommands],
  ...[workerClass, otherSteps, streamSteps, migrations, userTransactions, lazyRunQuery, runCommands, lazyRareQueries],
  ...[lazyLogs, lazySignals, tidyingCode, logLineWriter, followedLogs, limitCode],
]

/** Loads the code that the engine loads lazily, before a world begins: so the first world does not differ from the others. */
export async function loadLazyCode(env: Env): Promise<void> {
  await Promise.all(LAZY_CODE.map((code) => code(env)))
}
