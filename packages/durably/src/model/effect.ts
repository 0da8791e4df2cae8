// Effect — a step that must not run twice. Its start is stored before the function is called, so that an execution which finds a start
// without a record knows that the function may have run, and asks instead of running it again.
import { DECISION_PREFIX } from './decision-name.ts'
import { DurablyError } from './errors.ts'
import { checkName } from './name.ts'

/** A step that has begun and is not recorded, and in which lease of its run. */
export interface Effect {
  name: string
  generation: number
}

/** The row of the run holds them. */
export function encodeEffects(effects: Iterable<Effect>): string {
  return JSON.stringify([...effects])
}

export function decodeEffects(encoded: string | null): Effect[] {
  return encoded === null ? [] : (JSON.parse(encoded) as Effect[])
}

/**
 * What became of an effect whose worker was lost: it took place and this is its result (`{ done }`), it did not and should run
 * (`'run again'`), or the step counts as failed with this message (`{ failed }`).
 */
export type Decision<T = unknown> = { done: T } | 'run again' | { failed: string }

export const NOT_A_DECISION = "a decision is { done: result }, { failed: message } or 'run again'"

export function isDecision(value: unknown): value is Decision {
  return value === 'run again' || (typeof value === 'object' && value !== null && ('done' in value || 'failed' in value))
}

export function checkSignalName(name: unknown): void {
  if (checkName('signal name', name).startsWith(DECISION_PREFIX))
    throw new DurablyError('invalid_name', `signal name must not begin with ${JSON.stringify(DECISION_PREFIX)}; use decide()`)
}
