// Failure — what is kept of a thrown value. Anything can be thrown, so nothing here may throw.

/** What is stored of an error that was thrown. Long texts are shortened: all parts together have at most 8 KiB of text. */
export interface Failure {
  /** The message of the error. */
  message: string
  /** The name of its class, such as `TypeError`. */
  name: string
  /** Its code, if it has one. */
  code?: string
  /** Its stack trace, if it has one. */
  stack?: string
  /** The error that caused it, if it has one; at most four levels. */
  cause?: Failure
}

/** What one failure may take in the database, its causes included; escapes and the names of the fields come on top. */
export const FAILURE_CHARS_MAX = 8 * 1024
const CAUSES_MAX = 4
const WORD_CHARS_MAX = 100

/** Without `errorStacks` it costs little: a stack becomes a text when it is first read. */
export function failureOf(thrown: unknown, { errorStacks = true }: { errorStacks?: boolean } = {}): Failure {
  return described(thrown, FAILURE_CHARS_MAX - 2 * WORD_CHARS_MAX * (CAUSES_MAX + 1), CAUSES_MAX, errorStacks)
}

/** The error behind an error. */
export function causeOf(thrown: unknown): unknown {
  return isObject(thrown) ? read(thrown, 'cause') : undefined
}

/** Takes half of the room and leaves the other half to the causes, so the error itself says most. */
function described(thrown: unknown, room: number, causesLeft: number, errorStacks: boolean): Failure {
  const quarter = Math.floor(room / 4)
  if (!isObject(thrown)) return { name: 'Error', message: cut(text(thrown), quarter) }
  const code = read(thrown, 'code')
  const stack = errorStacks && read(thrown, 'stack')
  const cause = read(thrown, 'cause')
  return {
    name: cut(text(read(thrown, 'name') ?? 'Error'), WORD_CHARS_MAX),
    message: cut(text(read(thrown, 'message') ?? thrown), quarter),
    ...(isPresent(code) && { code: cut(text(code), WORD_CHARS_MAX) }),
    ...(typeof stack === 'string' && { stack: cut(stack, quarter) }),
    ...(isPresent(cause) && causesLeft > 0 && { cause: described(cause, room / 2, causesLeft - 1, errorStacks) }),
  }
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
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
    return `[${typeof value} without a text]`
  }
}

/** Also makes the text safe for every database: no NUL, no lone surrogates. */
function cut(value: string, max: number): string {
  const short = value.length > max ? `${value.slice(0, max - 1)}…` : value
  return short.replaceAll('\0', '\uFFFD').toWellFormed()
}
