import type { StepContext, StepFunction } from '../../model/job.ts'
import type { Attach } from '../lease/owner.ts'

/** What a step does, and what it writes with its record. */
export interface StepBody {
  call(step: StepContext): unknown
  /** After the function has returned, before the record. True when the record replaces what was streamed. */
  finish(): Promise<boolean> | boolean
  /** Attaches what must be written together with the record. */
  attachToRecord: Attach
  /** The function has failed, or must stop. */
  giveUp(): void
}

export function plainStep(fn: StepFunction<unknown>): StepBody {
  return { call: fn, finish: () => false, attachToRecord: () => undefined, giveUp() {} }
}
