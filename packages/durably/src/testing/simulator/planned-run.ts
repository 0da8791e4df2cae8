// What a run of a simulated world is planned to do: its steps, and what happens in each.
import type { Labels } from '../../model/labels.ts'

export const SHAPES = ['chain', 'fan'] as const

/** A value that cannot be stored: the database rejects it, it cannot be serialized, or it is too large. */
export type Misfit = 'rejected' | 'instance' | 'function' | 'too large'

/** A call inside of a step. A plain step is allowed there; the engine refuses calls that may wait. */
export type Inner = 'step' | 'tried step' | 'sleep' | 'wait' | 'child'

interface Named {
  name: string
}

/** A step with a function: plain, or a stream. */
export interface PlannedWork extends Named {
  kind: 'work'
  ms: number
  /** How many of its first executions throw. */
  throws: number
  /** It throws an error that says that another try would not help. */
  fatal: boolean
  /** It throws an error that says when it, or its job, is to be tried again. */
  laterMs: number | null
  /** Instead of throwing it returns a value that cannot be stored. */
  misfit: Misfit | null
  /** It ignores its signal. */
  deaf: boolean
  /** What it emits while it executes; `null` for a plain step. */
  stream: PlannedStream | null
  retry: PlannedRetry | null
  timeoutMs: number | null
  /** How many of its first executions take much longer than its timeout. */
  dawdles: number
  /** What its function calls of the job's context. */
  inner: Inner | null
  /** It must not run twice; its `reconcile` function or a person decides whether it took effect. */
  once: 'reconciled' | 'decided' | null
}

export interface PlannedRetry {
  tries: number
  delayMs: number
}

export interface PlannedStream {
  parts: number
  /** How many parts there are between two checkpoints; 0 for none. */
  checkpointEvery: number
  /** It does not wait until what it emits is written. */
  hasty: boolean
}

export interface PlannedSleep extends Named {
  kind: 'sleep'
  ms: number
  /** It sleeps until a time instead of for a duration. */
  until: boolean
}

export interface PlannedWait extends Named {
  kind: 'wait'
  timeoutMs: number | null
  /** When each sender sends, counted from when the run was first seen; nobody sends if it is empty. */
  senders: { afterMs: number; twice: boolean }[]
  /** The job goes on when its time is over. */
  tolerant: boolean
}

export interface PlannedChild extends Named {
  kind: 'child'
  invoked: boolean
  job: string
  steps: PlannedStep[]
  concurrencyKey: string | undefined
  tolerant: boolean
}

/** Many children at once, each with one short step or none. */
export interface PlannedCrowd extends Named {
  kind: 'crowd'
  size: number
  invoked: boolean
  /** How long the step of the first child takes; `null` where the children have no step. */
  ms: number | null
  /** By how much longer the step of each next child takes, so that they end one after the other. */
  spreadMs: number
  /** The child whose step returns a value that the store rejects; `null` for none. */
  spoiler: number | null
  tolerant: boolean
}

/** A step that writes rows of the user in the transaction of its record, and may trigger a run in it. */
export interface PlannedBooking extends Named {
  kind: 'booking'
  throws: number
  /** How many of its first executions take longer than its timeout, between two of its rows. */
  dawdles: number
  /** Its own timeout; `null` for the default of transactions. */
  timeoutMs: number | null
  enqueues: boolean
}

export type PlannedLeg = PlannedWork | PlannedSleep | PlannedWait

/** A `Promise.race` of calls: only the last is sure to settle. */
export interface PlannedRace extends Named {
  kind: 'race'
  legs: PlannedLeg[]
}

/** A call that has a record of its own. */
export type PlannedCall = PlannedWork | PlannedSleep | PlannedWait | PlannedChild | PlannedBooking

export type PlannedStep = PlannedCall | PlannedRace | PlannedCrowd

export interface PlannedRun {
  job: string
  steps: PlannedStep[]
  spoiled: PlannedSpoil | undefined
  idempotencyKey: string | undefined
  concurrencyKey: string | undefined
  /** It has that key until it ends. */
  holdKey: boolean
  labels: Labels | undefined
  delayMs: number | undefined
  deadlineMs: number | undefined
  atMs: number
}

/** A job whose first executions that reach the end return a value that cannot be stored. */
export interface PlannedSpoil {
  times: number
  misfit: Misfit
}

/** All calls with a record of their own, including those of races and crowds. */
export function callsOf(steps: readonly PlannedStep[]): PlannedCall[] {
  return steps.flatMap((step) => {
    switch (step.kind) {
      case 'race':
        return step.legs
      case 'crowd':
        return childrenOf(step)
      default:
        return [step]
    }
  })
}

export function childrenOf({ name, size, invoked, ms, spreadMs, spoiler, tolerant }: PlannedCrowd): PlannedChild[] {
  return Array.from({ length: size }, (_, n) => ({
    kind: 'child',
    name: `${name}.${n}`,
    invoked,
    job: 'chain',
    steps: ms === null ? [] : [{ ...SHORT_WORK, ms: ms + n * spreadMs, ...(n === spoiler && REJECTED_ONCE) }],
    concurrencyKey: undefined,
    tolerant,
  }))
}

const SHORT_WORK: PlannedWork = {
  kind: 'work',
  name: 's0',
  ms: 0,
  throws: 0,
  fatal: false,
  laterMs: null,
  misfit: null,
  deaf: false,
  stream: null,
  retry: null,
  inner: null,
  timeoutMs: null,
  dawdles: 0,
  once: null,
}

const REJECTED_ONCE: Pick<PlannedWork, 'throws' | 'misfit'> = { throws: 1, misfit: 'rejected' }

/**
 * Others may wait until these steps have ended: they do end without a cancel, and none of their children has a key, which the run itself, or
 * one that waits for it, may hold.
 */
export function mayHoldKey(steps: readonly PlannedStep[]): boolean {
  if (isHopeless(steps)) return false
  return callsOf(steps).every((call) => call.kind !== 'child' || (call.concurrencyKey === undefined && mayHoldKey(call.steps)))
}

/** It waits without a timeout for a signal that nobody sends: only a cancel or a deadline ends it. */
export function isHopeless(steps: readonly PlannedStep[]): boolean {
  return steps.some((step) => step.kind === 'wait' && step.timeoutMs === null && step.senders.length === 0)
}
