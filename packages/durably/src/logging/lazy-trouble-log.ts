// What goes wrong is logged. The code that writes the lines is loaded with the first trouble: most pages never need it.
import type { Emitter } from '../events/emitter.ts'
import { type Env, loaded } from '../model/env.ts'
import type { DurablyEvent } from '../model/event.ts'
import type { DurablyLogger } from './logger.ts'
import type { TroubleLog } from './trouble-log.ts'

const TROUBLES = ['run:fail', 'run:retry', 'run:reclaim', 'step:fail', 'worker:error'] as const

export interface TroubleLogDeps {
  emitter: Emitter
  env: Env
  /** Null for the console. */
  logger: DurablyLogger | null
}

/** Returns a function whose promise resolves when all lines so far are written. */
export function lazyTroubleLog(deps: TroubleLogDeps): () => Promise<unknown> {
  let log: Promise<TroubleLog | undefined> | null = null
  const write = (event: DurablyEvent, listenerError?: { error: unknown }) => {
    log ??= loaded(deps.env, async () => new (await import('./trouble-log.ts')).TroubleLog(deps)).catch(() => undefined)
    void log.then((log) => log?.write(event, listenerError))
  }
  for (const type of TROUBLES) deps.emitter.on(type, (event) => write(event))
  deps.emitter.onUnhandled((error, event) => write(event, { error }))
  return async () => log
}
