// Ulid — ids in the order they were made: ten digits of time, sixteen of chance, in Crockford's base 32.
//   U1. Each is greater than the one before, also within a millisecond and when the clock goes back: then it counts on.
// Every run and every claim needs one, so what ids of the same millisecond share is written once: all but the last three digits.

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const TIME_DIGITS = 10
const FIXED_DIGITS = 13
const COUNTED_MAX = 32 ** 3

/** `chance` is uniform in [0, 1]; the last digit is drawn first. */
export function monotonicUlids(chance: () => number): (nowMs: number) => string {
  let lastMs = 0
  let time = ''
  const fixed: number[] = new Array(FIXED_DIGITS).fill(0)
  let shared = ''
  let counted = 0
  const digit = () => Math.min(31, Math.floor(chance() * 32))
  return (nowMs) => {
    if (nowMs > lastMs) {
      lastMs = nowMs
      time = timeDigits(nowMs)
      counted = digit() + digit() * 32 + digit() * 1024
      for (let i = FIXED_DIGITS - 1; i >= 0; i--) fixed[i] = digit()
      shared = time + digits(fixed)
    } else if (++counted === COUNTED_MAX) {
      counted = 0
      countUp(fixed)
      shared = time + digits(fixed)
    }
    return shared + (DIGITS.charAt(counted >> 10) + DIGITS.charAt((counted >> 5) & 31) + DIGITS.charAt(counted & 31))
  }
}

/** When an id was made. The last time is remembered: ids of a millisecond share it. */
export function timeOfId(id: string): number {
  const time = id.slice(0, TIME_DIGITS)
  if (time !== lastTime.digits) {
    let ms = 0
    for (const digit of time) ms = ms * 32 + DIGITS.indexOf(digit)
    lastTime = { digits: time, ms }
  }
  return lastTime.ms
}

/** Smaller than every id that is made at this time or later. */
export function firstIdAt(ms: number): string {
  return timeDigits(Math.max(0, ms))
}

let lastTime = { digits: '', ms: 0 }

function countUp(fixed: number[]): void {
  for (let i = fixed.length - 1; i >= 0; i--) {
    const next = (fixed[i] ?? 0) + 1
    fixed[i] = next % 32
    if (next < 32) return
  }
  throw new Error('U1: one millisecond has no more ids')
}

function timeDigits(ms: number): string {
  let text = ''
  for (let i = 0, rest = Math.floor(ms); i < TIME_DIGITS; i++, rest = Math.floor(rest / 32)) text = DIGITS.charAt(rest % 32) + text
  return text
}

function digits(values: readonly number[]): string {
  let text = ''
  for (const value of values) text += DIGITS.charAt(value)
  return text
}
