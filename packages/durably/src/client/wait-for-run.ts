// Waiting for a run to end, wherever it runs. This process's events wake the waiter; reading the store is the truth.
import type { Emitter } from '../events/emitter.ts'
import { type Env, within } from '../model/env.ts'
import { DurablyError, isPassing } from '../model/errors.ts'
import { isTerminal, type RunRow } from '../model/run.ts'
import type { RunStore } from '../store/runs.ts'

export class RunWatch {
  readonly #watchers = new Map<string, Set<() => void>>()

  constructor(emitter: Emitter) {
    for (const type of ['run:complete', 'run:fail', 'run:cancel'] as const) emitter.on(type, ({ runId }) => this.touch(runId))
  }

  touch(runId: string): void {
    for (const wake of this.#watchers.get(runId) ?? []) wake()
  }

  /** Resolves at the next sign of change; `done` forgets it. */
  next(runId: string): { changed: Promise<void>; done: () => void } {
    const watchers = this.#watchers.get(runId) ?? new Set()
    this.#watchers.set(runId, watchers)
    let wake = () => {}
    const changed = new Promise<void>((resolve) => {
      wake = resolve
    })
    watchers.add(wake)
    const done = () => {
      watchers.delete(wake)
      if (watchers.size === 0) this.#watchers.delete(runId)
    }
    return { changed, done }
  }
}

export interface WaitParts {
  runs: RunStore
  env: Env
  watch: RunWatch
  pollingMs: number
}

/** The run's row once it has ended. */
export async function waitForRun(
  { runs, env, watch, pollingMs }: WaitParts,
  runId: string,
  timeoutMs = Number.POSITIVE_INFINITY,
): Promise<RunRow> {
  const began = env.mono()
  for (;;) {
    const { changed, done } = watch.next(runId)
    try {
      const run = await readRun(runs, runId)
      if (run && isTerminal(run.status)) return run
      const left = timeoutMs - (env.mono() - began)
      if (left <= 0) {
        throw new DurablyError('wait_timeout', `run ${runId} did not end within ${timeoutMs} ms; it goes on, getRun() tells how`, { runId })
      }
      await within(env, Math.min(pollingMs, left), changed)
    } finally {
      done()
    }
  }
}

/** `null` when the store cannot be asked right now. */
async function readRun(runs: RunStore, runId: string): Promise<RunRow | null> {
  let run: RunRow | null
  try {
    run = await runs.get(runId)
  } catch (error) {
    if (isPassing(error)) return null
    throw error
  }
  if (!run) throw new DurablyError('run_deleted', `run ${runId} was deleted while it was waited for`, { runId })
  return run
}
