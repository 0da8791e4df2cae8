// WaitingFor — what an unfinished run waits for, in a form for people and programs. Derived, never stored.
import { decidedStep, decisionName } from './decision-name.ts'
import { decodeEffects } from './effect.ts'
import { iso } from './env.ts'
import type { PhaseFacts } from './phase.ts'
import type { RunRow } from './run.ts'
import { decodeWaits, type Wait } from './wait.ts'

/** What an unfinished run waits for. Times are ISO-8601 text. */
export type WaitingFor =
  /** The time of its first start (`delay`), or of the next attempt of the job (`retry`). */
  | { kind: 'delay' | 'retry'; until: string }
  /** The end of a sleep, or the time of the next attempt of a step. */
  | { kind: 'sleep' | 'step retry'; step: string; until: string }
  /** A signal of this name. `until` is when it stops waiting; null: never. */
  | { kind: 'signal'; name: string; until: string | null }
  /** Somebody must say with `decide()` what became of this effect. */
  | { kind: 'decision'; step: string }
  /** The end of the run that this step invoked. Its id is given only where a single run is read, to callers who may read it; otherwise it is null. */
  | { kind: 'child'; step: string; runId: string | null; jobName: string | null }
  /** The run that holds its concurrency key; its id as above. Only where a single run is read: a list says `slot`. */
  | { kind: 'key'; heldBy: string | null }
  /** A worker: it is due, but this process executes no runs of its job; another one may. Only where a single run is read: a list says `slot`. */
  | { kind: 'worker' }
  /** The next free slot of a worker that has its job: it is due. */
  | { kind: 'slot' }

type WaitFacts = PhaseFacts & Pick<RunRow, 'attempts' | 'deadlineAt' | 'effects'>

/** Everything it waits for. What no clock ends comes first, then what is due first. Empty when it executes or has ended. */
export function waitsOf(row: WaitFacts, wallMs: number): WaitingFor[] {
  const { status, runAt, waitingFor, attempts, deadlineAt } = row
  if (status !== 'pending') return []
  if (runAt <= (row.readAt ?? wallMs)) return [{ kind: 'slot' }]
  const open = decodeEffects(row.effects).map(({ name, generation }) => decisionName(name, generation))
  // What is over stays in the row until the run goes on, and so do waits for decisions about earlier starts of an effect.
  const waits = decodeWaits(waitingFor).filter(
    ({ kind, name, dueAt }) =>
      kind !== 'limit' && (dueAt === null || dueAt >= runAt) && (decidedStep(name) === undefined || open.includes(name)),
  )
  // What is left from an earlier execution, while the next attempt of the job is due before it.
  const isParked = waits.some(({ kind, dueAt }) => kind === 'signal' || kind === 'child' || dueAt === runAt || deadlineAt === runAt)
  if (!isParked) return [{ kind: attempts > 0 ? 'retry' : 'delay', until: iso(runAt) }]
  return waits.sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0)).map(shown)
}

function shown({ kind, name, dueAt }: Wait): WaitingFor {
  const until = dueAt === null ? null : iso(dueAt)
  if (kind === 'child') return { kind, step: name, runId: null, jobName: null }
  if (kind === 'signal') {
    const step = decidedStep(name)
    return step === undefined ? { kind, name, until } : { kind: 'decision', step }
  }
  return { kind: kind === 'sleep' ? kind : 'step retry', step: name, until: until as string }
}
