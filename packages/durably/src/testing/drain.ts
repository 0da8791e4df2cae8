// Drain — executes runs until all have ended, without waiting in real time: the virtual clock jumps from timer to timer.
import type { Durably } from '../durably.ts'
import { engineOf } from '../engine-of.ts'
import { DurablyError } from '../model/errors.ts'
import type { Run } from '../model/run.ts'
import { NEVER_MS } from '../model/wait.ts'
import type { VirtualEnv } from './virtual-env.ts'

/** The polling interval of an idle worker. */
const LOOK_MS = 1000
/** If no due time is known: longer than any timer of a test. A run that makes no progress for so long waits for something else. */
const PATIENCE_MS = 3_600_000
const SHOWN_MAX = 10

/**
 * Executes what is due, lets time pass, and again, until every run has ended; returns how many executions that took. A sleep, a delay or the
 * pause before a retry may last as long as it likes: time leaps to its end. It fires no schedules, which might never end: `trigger` them, or
 * start the worker and let time pass.
 *
 * @example await drain(durably, env)
 */
export async function drain(durably: Durably, env: VirtualEnv): Promise<number> {
  const { duties } = engineOf(durably, 'drain')
  if (typeof env?.advance !== 'function')
    throw new DurablyError('invalid_argument', 'drain takes the virtualEnv() of the instance as its second argument: drain(durably, env)')
  duties.isWithheld = true
  try {
    return await drained(durably, env)
  } finally {
    duties.isWithheld = false
  }
}

async function drained(durably: Durably, env: VirtualEnv): Promise<number> {
  let executed = 0
  for (let waitedMs = 0; ; ) {
    const now = await onVirtualTime(env, durably.processUntilIdle())
    if (now > 0) waitedMs = 0
    executed += now
    const left = await activeRuns(durably)
    if (left.length === 0) return executed
    const dueInMs = await nextInMs(durably, env)
    if (dueInMs !== null) waitedMs = 0
    else if (waitedMs >= PATIENCE_MS)
      throw new Error(`drain: nothing is due any more, but not every run has ended.\n${await explained(durably, left)}`)
    else waitedMs += LOOK_MS
    await env.advance(dueInMs ?? LOOK_MS)
  }
}

/** How long until a run falls due or a lease ends; `null` if no such time is known. */
async function nextInMs(durably: Durably, env: VirtualEnv): Promise<number | null> {
  const { store, jobs } = engineOf(durably, 'drain')
  const { due, stale, nextInMs } = await store.runs.probe([...jobs.keys()])
  // A run that is due and was not claimed waits for its concurrency key, or for a lease.
  if (due || stale || nextInMs === null || env.wall() + nextInMs >= NEVER_MS) return null
  return nextInMs
}

/** Waits for `promise`, however much virtual time it takes. */
async function onVirtualTime<T>(env: VirtualEnv, promise: Promise<T>): Promise<T> {
  let settled = false
  const settle = () => {
    settled = true
  }
  promise.then(settle, settle)
  await env.idle()
  while (!settled) await env.advance(env.nextInMs() ?? 0)
  return promise
}

async function activeRuns(durably: Durably): Promise<Run[]> {
  const running = await durably.getRuns({ status: 'running', limit: SHOWN_MAX })
  return [...running, ...(await durably.getRuns({ status: 'pending', limit: SHOWN_MAX }))]
}

/** A run that waits for another one is explained by the same lines. */
async function explained(durably: Durably, runs: readonly Run[]): Promise<string> {
  const texts = await Promise.all(runs.map(async ({ id }) => (await durably.explain(id)).text))
  return [...new Set(texts.flatMap((text) => text.split('\n')))].join('\n')
}
