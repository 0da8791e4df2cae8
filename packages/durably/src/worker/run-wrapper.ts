import type { RunRow } from '../model/run.ts'

/**
 * A function around every execution of a run, from its claim until its end, its wait or its next attempt is stored, for example to measure it: it
 * must call `next()`, which executes the run. `run` is its row as it was claimed. `next()` does not reject if the job throws: what became of the run
 * is told by its events.
 */
export type RunWrapper = (run: RunRow, next: () => Promise<void>) => Promise<void>
