import type { Created, NewRun, RunStore } from './runs.ts'

/** How `ctx.trigger` and `ctx.invoke` pass to `trigger` which step of which run calls it; user code cannot set it. */
export const PARENT = Symbol('parent')

/** What a child is known by: a step has one, however often it is executed. */
export interface Parent {
  runId: string
  step: string
  /** The claim of the run. */
  token: string
  /** Those that the child has, as its row has them. */
  labels: string | null
  /** Stores it together with others that are asked for now; `runs` is where `trigger` would have stored it. */
  create(child: NewRun, runs: RunStore): Promise<Created>
}
