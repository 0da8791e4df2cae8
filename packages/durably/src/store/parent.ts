import type { Created, NewRun, RunStore } from './runs.ts'

/** How `ctx.trigger` and `ctx.invoke` pass to `trigger` which step of which run calls it; user code cannot set it. */
export const PARENT = Symbol('parent')

/** The step that triggers a child. A step has one child, however often it is executed. */
export interface Parent {
  runId: string
  step: string
  /** The token of the claim under which the run is held. */
  token: string
  /** The labels of the child, as they are stored. */
  labels: string | null
  /** Stores it together with others that are asked for now; `runs` is where `trigger` would have stored it. */
  create(child: NewRun, runs: RunStore): Promise<Created>
}
