// Labels — names and values by which runs are found again. Runs without labels do not load this (ADR 0009).
import { DurablyError } from './errors.ts'

/**
 * Names and values by which runs are found, at most 16. A name is 1 to 64 letters, digits and `.` `_` `-` `/` `:`, and begins with a letter or a
 * digit. A value is a text of at most 256 characters.
 */
export type Labels = Readonly<Record<string, string>>

export const LABELS_MAX = 16
/** It begins with a letter or a digit, so that none is `__proto__`. */
const NAME = /^[A-Za-z\d][\w.\-/:]{0,63}$/
export const VALUE_CHARS_MAX = 256
/** How much of a wrong name is shown: it may come from outside, and be of any length. */
const SHOWN_MAX = 70

/** The labels of a new run, as they are stored: its own, and those of the run that triggers it, unless it has one of the same name. */
export function labelsOf(own: Labels, inherited: string | null): string | null {
  checkLabels(own)
  const labels: Labels = { ...(inherited !== null && (JSON.parse(inherited) as Labels)), ...own }
  const { length } = Object.keys(labels)
  if (length > LABELS_MAX)
    throw invalid(`labels must be at most ${LABELS_MAX} together with those of the run that triggers it, got ${length}; give fewer`)
  return length === 0 ? null : JSON.stringify(labels)
}

/** Checks the labels of a filter. */
export function checkWantedLabels(labels: unknown): void {
  checkLabels(labels)
  if (Object.keys(labels).length === 0) throw invalid('labels must not be empty; leave it out to ask for all runs')
}

function checkLabels(labels: unknown): asserts labels is Labels {
  if (!isPlainObject(labels)) throw invalid(`labels must be an object such as { tenant: 'acme' }, got ${kindOf(labels)}`)
  const all = Object.entries(labels)
  if (all.length > LABELS_MAX) throw invalid(`labels must be at most ${LABELS_MAX}, got ${all.length}; put other data into the input`)
  for (const [name, value] of all) checkLabel(name, value)
}

function checkLabel(name: string, value: unknown): void {
  if (!NAME.test(name))
    throw invalid(
      `a label cannot be named ${JSON.stringify(name.slice(0, SHOWN_MAX))}: a name must be 1 to 64 of A-Z, a-z, 0-9 and . _ - / :, and begin with a letter or a digit`,
    )
  const wrong = (problem: string) => invalid(`label ${JSON.stringify(name)} must ${problem}`)
  if (typeof value !== 'string') throw wrong(`be a string, got ${kindOf(value)}; write it as a text, or leave the label out`)
  if (value.length > VALUE_CHARS_MAX)
    throw wrong(`be at most ${VALUE_CHARS_MAX} characters, got ${value.length}; use a shorter one or a hash of it`)
  if (value.includes('\0')) throw wrong('not contain a NUL character; leave it out')
  if (!value.isWellFormed()) throw wrong('be well-formed Unicode (it contains a lone surrogate); replace it')
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: object | null = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return typeof value === 'object' ? (value.constructor?.name ?? 'an object') : typeof value
}

function invalid(problem: string): DurablyError {
  return new DurablyError('invalid_argument', problem)
}
