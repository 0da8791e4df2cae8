// Assertions for the contract: no test runner, no `node:` module, so that it runs wherever a store does.
import { DurablyError, type ErrorCode } from '../model/errors.ts'

/** What the assertions of the store contract throw. Test runners that know `actual` and `expected` print the difference. */
export class AssertionFailed extends Error {
  /** The value that was found. */
  readonly actual: unknown
  /** The value that was expected. */
  readonly expected: unknown

  constructor(message: string, actual: unknown, expected: unknown) {
    super(message)
    this.name = 'AssertionFailed'
    this.actual = actual
    this.expected = expected
  }
}

/** Throws unless the value is truthy. `what` says what was checked. */
export function ok(value: unknown, what: string): asserts value {
  if (!value) throw new AssertionFailed(`${what}: expected a truthy value, got ${show(value)}`, value, true)
}

/** Throws unless both are the same primitive or the same object, as `Object.is` says. */
export function equal<T>(actual: T, expected: T, what: string): void {
  if (!Object.is(actual, expected)) {
    throw new AssertionFailed(`${what}: expected ${show(expected)}, got ${show(actual)}`, actual, expected)
  }
}

/**
 * Throws unless both are equal in every member. A missing property is not equal to one that is `undefined`, and `-0` is not equal to `0`.
 */
export function deepEqual<T>(actual: T, expected: T, what: string): void {
  const found = difference(actual, expected, what, new Map())
  if (found) throw new AssertionFailed(`${found.where}: ${found.why}`, actual, expected)
}

/** Throws unless the promise rejects with a `DurablyError` of this code; returns that error. */
export async function rejects(promise: Promise<unknown>, code: ErrorCode, what: string): Promise<DurablyError> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  if ('value' in outcome) throw new AssertionFailed(`${what}: expected ${code}, but it resolved`, outcome.value, code)
  const { error } = outcome
  if (!(error instanceof DurablyError)) throw new AssertionFailed(`${what}: expected ${code}, got ${show(error)}`, error, code)
  if (error.code !== code) throw new AssertionFailed(`${what}: expected ${code}, got ${error.code}`, error.code, code)
  return error
}

interface Difference {
  where: string
  why: string
}

/** `seen` pairs the objects that are being compared further up: cycles are equal when they close at the same place. */
function difference(actual: unknown, expected: unknown, where: string, seen: Map<object, object>): Difference | null {
  if (Object.is(actual, expected)) return null
  if (!isObject(actual) || !isObject(expected)) return { where, why: `expected ${show(expected)}, got ${show(actual)}` }
  if (Object.getPrototypeOf(actual) !== Object.getPrototypeOf(expected)) return { where, why: 'the prototypes differ' }
  if (seen.has(actual)) return seen.get(actual) === expected ? null : { where, why: 'the cycles differ' }
  seen.set(actual, expected)
  const found = contentDifference(actual, expected, where, seen) ?? memberDifference(actual, expected, where, seen)
  seen.delete(actual)
  return found
}

function contentDifference(actual: object, expected: object, where: string, seen: Map<object, object>): Difference | null {
  if (actual instanceof Date && expected instanceof Date)
    return difference(actual.getTime(), expected.getTime(), `${where}.getTime()`, seen)
  if (actual instanceof Map && expected instanceof Map) return difference([...actual], [...expected], `${where}.entries()`, seen)
  if (actual instanceof Set && expected instanceof Set) return difference([...actual], [...expected], `${where}.values()`, seen)
  if (actual instanceof Error && expected instanceof Error) return difference(actual.message, expected.message, `${where}.message`, seen)
  if (Array.isArray(actual) && Array.isArray(expected)) return difference(actual.length, expected.length, `${where}.length`, seen)
  return null
}

function memberDifference(actual: object, expected: object, where: string, seen: Map<object, object>): Difference | null {
  const names = new Set([...Object.keys(actual), ...Object.keys(expected)])
  for (const name of names) {
    const place = `${where}.${name}`
    if (!Object.hasOwn(actual, name)) return { where: place, why: 'is missing' }
    if (!Object.hasOwn(expected, name)) return { where: place, why: 'is not expected' }
    const found = difference(Reflect.get(actual, name), Reflect.get(expected, name), place, seen)
    if (found) return found
  }
  return null
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

const SHOWN_CHARS_MAX = 200

function show(value: unknown): string {
  const text = shown(value)
  return text.length > SHOWN_CHARS_MAX ? `${text.slice(0, SHOWN_CHARS_MAX)}… (${text.length} characters)` : text
}

function shown(value: unknown): string {
  if (Object.is(value, -0)) return '-0'
  if (value instanceof Error) return `${value.name}: ${value.message}`
  if (typeof value !== 'string' && !isObject(value)) return String(value)
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return Object.prototype.toString.call(value)
  }
}
