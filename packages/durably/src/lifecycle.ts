// When an engine works and when it ends: what is still to be written is waited for.
import type { Capabilities } from './capabilities.ts'
import type { Engine } from './engine.ts'
import { loaded } from './model/env.ts'
import { checkKeys, type KeysOf } from './model/known-keys.ts'
import type { UntilIdleOptions } from './worker/loop/process-until-idle.ts'

export function start({ changes, worker }: Engine): void {
  changes.open()
  worker.start()
}

export interface StopOptions {
  /** Milliseconds. */
  timeout?: number
}

const STOP_OPTIONS: KeysOf<StopOptions> = { timeout: 1 }

export async function stop({ env, worker, logLines, changes }: Engine, options?: StopOptions): Promise<void> {
  checkKeys('stop', options, STOP_OPTIONS)
  const end = env.mono() + (options?.timeout ?? Number.POSITIVE_INFINITY)
  await worker.stop(options)
  await logLines.drain(end - env.mono())
  await changes.flush()
}

export async function processOne({ admit, worker, logLines }: Engine): Promise<boolean> {
  admit()
  const found = await worker.processOne()
  await logLines.drain()
  return found
}

export async function processUntilIdle(engine: Engine, options?: UntilIdleOptions): Promise<number> {
  const { admit, env, worker, logLines } = engine
  admit()
  const { processUntilIdle } = await loaded(env, () => import('./worker/loop/process-until-idle.ts'))
  const processed = await processUntilIdle(await worker.loaded(), engine, options)
  await logLines.drain()
  return processed
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
