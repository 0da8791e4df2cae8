// Times as people read them.

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const

/** `1.2s`, `3m 5s`, `2d 4h`: at most two units. */
export function shownDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)}s`
  const parts: string[] = []
  let rest = Math.round(ms / 1000) * 1000
  for (const [unit, length] of UNITS) {
    const count = Math.floor(rest / length)
    rest -= count * length
    if (count > 0) parts.push(`${count}${unit}`)
    if (parts.length === 2 || (parts.length === 1 && count === 0)) break
  }
  return parts.join(' ')
}

/** `5m ago`, or `in 2h`. What waits for ever is due in the year 9999. */
export function relative(at: string | null, nowMs: number): string {
  if (at === null) return ''
  if (at.startsWith('9999')) return 'never'
  const ms = Date.parse(at) - nowMs
  return ms > 0 ? `in ${shownDuration(ms)}` : `${shownDuration(-ms)} ago`
}

/** The time of day with milliseconds, as in a log. */
export function clockTime(at: string): string {
  return at.slice(11, 23)
}
