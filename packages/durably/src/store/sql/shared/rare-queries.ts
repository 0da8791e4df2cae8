// Lists, counts and purges of runs, what a run waits for, and what a worker in a process asks. They are one file, because each of them alone is little more than
// what a file of its own costs.
import type { RunStore } from '../../runs.ts'
import { countRuns } from './count.ts'
import { dueJobs } from './due-jobs.ts'
import type { LazyDeps } from './lazy-deps.ts'
import { listRuns } from './list-runs.ts'
import { oldestDue } from './oldest-due.ts'
import { purgeRuns } from './purge.ts'
import { waitedFor } from './waited-for.ts'
import { wasAlive } from './was-alive.ts'

export type RareQueries = Pick<RunStore, 'getChild' | 'getHolder' | 'list' | 'count' | 'dueJobs' | 'purge' | 'oldestDue' | 'wasAlive'>

export function rareQueries(deps: LazyDeps): RareQueries {
  const { db, session, env, runRow } = deps
  return {
    ...waitedFor(deps),
    async list(query) {
      const list = listRuns(deps, query, env.wall())
      return list ? (await session.read(list.compile(db))).map(runRow) : []
    },
    count: (jobNames) => countRuns(deps, jobNames),
    dueJobs: dueJobs(deps),
    purge: purgeRuns(deps),
    oldestDue: oldestDue(deps),
    wasAlive: (claim) => wasAlive(deps, claim),
  }
}
