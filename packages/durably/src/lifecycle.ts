// When an engine works and when it ends: what is still to be written is waited for.
import type { Capabilities } from './capabilities.ts'
import type { Engine } from './engine.ts'
import type { Health } from './health.ts'
import { loaded } from './model/env.ts'
import { checkKeys, type KeysOf } from './model/known-keys.ts'
import type { ExplainDeps } from './runs/explain/explain-run.ts'
import type { Explanation } from './runs/explain/explanation.ts'

/** The options of `start()`. */
export interface StartOptions {
  /**
   * True: on SIGINT (Ctrl-C) or SIGTERM the runs are given back, so that other workers continue them at once, and the process exits; a
   * second signal exits immediately. If other code listens for the signal too, the process is not ended, only the runs are given back. In a
   * page it has no effect. Default false.
   */
  handleSignals?: boolean
}

export interface StopOptions {
  /** Milliseconds. */
  timeout?: number
}

const STOP_OPTIONS: KeysOf<StopOptions> = { timeout: 1 }

const START_OPTIONS: KeysOf<StartOptions> = { handleSignals: 1 }

export function start(engine: Engine, options: StartOptions = {}): void {
  checkKeys('start', options, START_OPTIONS)
  const { handleSignals = false } = options
  const { changes, worker, duties, env, logger, report } = engine
  changes.open()
  duties.isOver = false
  worker.start()
  engine.left?.abort()
  if (!globalThis.process || (logger === false && !handleSignals)) return
  engine.left = new AbortController()
  const left = engine.left.signal
  const release = () => finish(engine, { timeout: 0 })
  loaded(env, () => import('./process/attend.ts'))
    .then(({ attend }) => left.aborted || attend(engine, { handleSignals, left, release }))
    .catch(report)
}

export async function stop(engine: Engine, options?: StopOptions): Promise<void> {
  checkKeys('stop', options, STOP_OPTIONS)
  engine.left?.abort()
  return finish(engine, options)
}

async function finish({ env, worker, duties, logLines, logged, changes }: Engine, options?: StopOptions): Promise<void> {
  const end = env.mono() + (options?.timeout ?? Number.POSITIVE_INFINITY)
  duties.isOver = true
  await Promise.all([worker.stop(options), duties.resign()])
  await logLines.drain(end - env.mono())
  await changes.flush()
  await logged()
}

export async function processing(engine: Engine): Promise<typeof import('./processing.ts')> {
  engine.refuseInTransaction()
  return loaded(engine.env, () => import('./processing.ts'))
}

/** A store that was handed in stays open. */
export async function close(engine: Engine): Promise<void> {
  await stop(engine)
  await engine.changes.close()
  if (engine.db) await engine.store.close()
}

export async function capabilities(engine: Engine): Promise<Capabilities> {
  const { capabilitiesOf } = await loaded(engine.env, () => import('./capabilities.ts'))
  return capabilitiesOf(engine)
}

export async function explain(engine: Engine, runId: string, see?: ExplainDeps['see']): Promise<Explanation> {
  engine.refuseInTransaction()
  const { explainRun, explainDeps } = await loaded(engine.env, () => import('./explain.ts'))
  return explainRun(explainDeps(engine, see), runId)
}

export async function health(engine: Engine): Promise<Health> {
  engine.refuseInTransaction()
  const { healthOf } = await loaded(engine.env, () => import('./health.ts'))
  return healthOf(engine)
}
