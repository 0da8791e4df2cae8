// Workload — what is measured, without a word about who does it.

export type Workload =
  /** Runs that are there when the worker starts, until the last one has ended. With steps, the steps are counted. */
  | { kind: 'runs'; runs: number; steps: number; concurrency: number | 'best'; capMs: number }
  /** Runs that are created without a worker, `inFlight` at a time. */
  | { kind: 'enqueue'; runs: number; inFlight: number; capMs: number }
  /** Runs that are created by one call. */
  | { kind: 'bulk'; runs: number }
  /** From the call that creates a run to the first line of its function, with an idle worker in the same process. */
  | { kind: 'latency'; samples: number; capMs: number }
  /** Tasks in memory that do nothing, from the first that is handed in to the last that has ended. */
  | { kind: 'tasks'; tasks: number; concurrency: number }

export interface Figure {
  value: number
  unit: '/s' | 'ms'
  /** How many operations it is the rate, or the median, of. */
  of: number
  /** Time was up before all of them were done. */
  capped?: true
}

export function rate(of: number, ms: number): Figure {
  return { value: (of / ms) * 1000, unit: '/s', of }
}
