import type { Created, NewRun } from '../store/runs.ts'

/**
 * A function around the storing of new runs, for example to give them labels: it must call `next()`, which stores them, and return its result. `runs`
 * are the runs of one trigger, as they are to be stored; it may change their labels. A child is asked for again whenever the run that triggered it
 * goes on: then `created` is false.
 */
export type TriggerWrapper = (runs: readonly NewRun[], next: () => Promise<readonly Created[]>) => Promise<readonly Created[]>
