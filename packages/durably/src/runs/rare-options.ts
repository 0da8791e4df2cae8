// Options of `trigger` that few runs are given. Their checks are loaded with the first of them (ADR 0009).
import { DurablyError } from '../model/errors.ts'
import { kindOf, labelsOf } from '../model/labels.ts'
import { checkName } from '../model/name.ts'
import type { NewRun } from '../store/runs.ts'
import type { TriggerOptions } from './trigger.ts'

/** Puts them into the new run. */
export function readRareOptions(run: NewRun, { labels, holdKey, preferWorkerId }: TriggerOptions): void {
  if (labels !== undefined) run.labels = labelsOf(labels, run.labels)
  if (holdKey !== undefined) run.holdKey = readHoldKey(run, holdKey)
  if (preferWorkerId !== undefined) run.preferWorkerId = checkName('preferWorkerId', preferWorkerId)
}

function readHoldKey({ concurrencyKey }: NewRun, holdKey: unknown): boolean {
  if (typeof holdKey !== 'boolean') throw invalid(`holdKey must be true or false, got ${kindOf(holdKey)}`)
  if (holdKey && concurrencyKey === null)
    throw invalid('holdKey needs a concurrencyKey, the key that the run shall hold; give one, or leave holdKey out')
  return holdKey
}

function invalid(message: string): DurablyError {
  return new DurablyError('invalid_argument', message)
}
