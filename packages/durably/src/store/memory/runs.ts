import type { RunStore } from '../runs.ts'
import { apply } from './apply.ts'
import { cancel } from './cancel.ts'
import { adopt, claim } from './claim.ts'
import { deleteRun, retry } from './client-moves.ts'
import { count } from './count.ts'
import { create } from './create.ts'
import { dueJobs } from './due-jobs.ts'
import { oldestDue } from './oldest-due.ts'
import { probe } from './probe.ts'
import { purge } from './purge.ts'
import { copyOf, get, list } from './queries.ts'
import { reap } from './reap.ts'
import type { Tables } from './tables.ts'
import { wasAlive } from './was-alive.ts'

export function memoryRuns(tables: Tables): RunStore {
  /** Nothing in an operation waits, so each one is a transaction (S1), and no function is suspended for its answer. */
  const verb =
    <Request, Options, Answer>(perform: (tables: Tables, request: Request, options?: Options) => Answer) =>
    (request: Request, options?: Options): Promise<Answer> => {
      try {
        tables.begin()
        return Promise.resolve(perform(tables, request, options))
      } catch (error) {
        return Promise.reject(error)
      }
    }
  return {
    create: verb(create),
    claim: verb(claim),
    adopt: verb(adopt),
    held: async () => tables.heldTokens(),
    apply: verb(apply),
    reap: verb(reap),
    wasAlive: verb(wasAlive),
    cancel: verb(cancel),
    retry: verb(retry),
    delete: verb(deleteRun),
    get: verb(get),
    getChild: async (parentRunId, step) => copyOf(tables.known.childOf(parentRunId, step)),
    getHolder: async (concurrencyKey) => copyOf(tables.holderOf(concurrencyKey)),
    list: verb(list),
    oldestDue: verb(oldestDue),
    dueJobs: verb(dueJobs),
    probe: verb(probe),
    count: verb(count),
    purge: verb(purge),
  }
}
