// Known keys — an option that is not known is refused: a misspelt one would otherwise be ignored silently.
import { DurablyError, type ErrorCode } from './errors.ts'

/** Lists every key of `T`: one that is added to `T` and not to its list does not compile. */
export type KeysOf<T> = { readonly [K in keyof T & string]-?: 1 }

/** `given` are the options of `what`, if there are any. */
export function checkKeys(what: string, given: unknown, known: object, code: ErrorCode = 'invalid_argument'): void {
  if (given === undefined) return
  if (given !== Object(given)) throw new DurablyError(code, `the options of ${what} must be an object, got ${String(given)}`)
  for (const key of Object.keys(given as object))
    if (!Object.hasOwn(known, key)) throw new DurablyError(code, `${what} has no option ${nearest(key, Object.keys(known))}`)
}

/** How much of a wrong word is shown: it may come from outside, and be of any length. */
const SHOWN_MAX = 50
/** If two words share less than this part of their pairs of letters, one is not suggested for the other. */
const ALIKE_MIN = 0.4

/** The wrong word, and a suggestion: the known word that shares most pairs of letters with it, or all of them. */
export function nearest(wrong: unknown, known: readonly string[]): string {
  const shown = String(wrong).slice(0, SHOWN_MAX)
  const given = pairsOf(shown)
  let most = ALIKE_MIN
  let advice = `there is ${known.join(', ')}`
  for (const word of known) {
    const pairs = pairsOf(word)
    const alike = (2 * pairs.filter((pair) => given.includes(pair)).length) / (pairs.length + given.length)
    if (alike > most) {
      most = alike
      advice = `did you mean "${word}"?`
    }
  }
  return `"${shown}"; ${advice}`
}

function pairsOf(word: string): string[] {
  return Array.from(word.toLowerCase(), (letter, i) => letter + word.charAt(i + 1).toLowerCase())
}
