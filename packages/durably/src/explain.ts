// What `explain` needs of an engine; loaded when a run is first explained.
import type { Engine } from './engine.ts'
import { toRun } from './model/run.ts'
import type { ExplainDeps } from './runs/explain/explain-run.ts'

export { explainRun } from './runs/explain/explain-run.ts'

export function explainDeps(engine: Engine, see?: ExplainDeps['see']): ExplainDeps {
  const { env, store, worker, jobs, concurrency, trigger } = engine
  return {
    runs: store.runs,
    steps: store.steps,
    env,
    see: see ?? ((row) => toRun(row, trigger.codec, env.wall())),
    process: {
      hasJob: (jobName) => jobs.has(jobName),
      isWorking: worker.isWorking,
      slots: concurrency,
      freeSlots: concurrency - (worker.vitals?.busySlots ?? 0),
      executes: (runId) => worker.execution(runId) !== undefined,
    },
  }
}
