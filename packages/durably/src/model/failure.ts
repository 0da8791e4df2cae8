// Failure — what is kept of a thrown value. Anything can be thrown, so nothing here may throw.

export interface Failure {
  message: string
  name: string
  code?: string
  stack?: string
  cause?: Failure
}

/** What one failure may take in the database, its causes included. */
export const FAILURE_CHARS_MAX = 8 * 1024
const CAUSES_MAX = 4

export function failureOf(thrown: unknown, depth = 0): Failure {
  const budget = Math.floor(FAILURE_CHARS_MAX / (CAUSES_MAX + 1) / 2)
  if (!isObject(thrown)) return { name: 'Error', message: cut(text(thrown), budget) }
  const code = read(thrown, 'code')
  const stack = read(thrown, 'stack')
  const cause = read(thrown, 'cause')
  const message = read(thrown, 'message')
  return {
    name: cut(text(read(thrown, 'name') ?? 'Error'), 200),
    message: cut(message === undefined ? text(thrown) : text(message), budget),
    ...(code !== undefined && { code: cut(text(code), 200) }),
    ...(typeof stack === 'string' && { stack: cut(stack, budget) }),
    ...(cause !== undefined && cause !== null && depth < CAUSES_MAX && { cause: failureOf(cause, depth + 1) }),
  }
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

function read(source: object, key: string): unknown {
  try {
    return Reflect.get(source, key)
  } catch {
    return undefined
  }
}

function text(value: unknown): string {
  try {
    return String(value)
  } catch {
    return Object.prototype.toString.call(value)
  }
}

/** Also makes the text safe for every database: no NUL, no lone surrogates. */
function cut(value: string, max: number): string {
  const short = value.length > max ? `${value.slice(0, max - 1)}…` : value
  return short.replaceAll('\0', '\uFFFD').toWellFormed()
}
