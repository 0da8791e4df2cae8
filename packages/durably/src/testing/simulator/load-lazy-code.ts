import type { Env } from '../../model/env.ts'
import { runCommands } from '../../runs/lazy-run-commands.ts'
import { lazyRunQuery } from '../../runs/lazy-run-query.ts'
import { lazyList, lazyPurge } from '../../store/sql/shared/lazy-queries.ts'
import { userTransactions } from '../../store/sql/shared/lazy-user-transactions.ts'
import { migrations } from '../../store/sql/shared/migrate.ts'
import { workerClass } from '../../worker/loop/lazy-worker.ts'
import { otherSteps, streamSteps } from '../../worker/steps/lazy-steps.ts'

const LAZY_CODE = [workerClass, otherSteps, streamSteps, migrations, userTransactions, lazyRunQuery, runCommands, lazyList, lazyPurge]

/** Loads the code that the engine loads lazily, before a world begins: so the first world does not differ from the others. */
export async function loadLazyCode(env: Env): Promise<void> {
  await Promise.all(LAZY_CODE.map((code) => code(env)))
}
