// Durations and moments in words, short enough for a list.

const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
]

/** `0 ms`, `420 ms`, `3.2 s`, `1 m 12 s`, `3 d 4 h`. */
export function durationInWords(ms: number): string {
  const rest = Math.max(0, Math.round(ms))
  if (rest < 1000) return `${rest} ms`
  if (rest < 59_950) return `${(rest / 1000).toFixed(rest < 9950 ? 1 : 0)} s`
  const first = UNITS.findIndex(([, unit]) => rest >= unit)
  const [name = 's', unit = 1000] = UNITS[first] ?? []
  const [nextName, nextUnit] = UNITS[first + 1] ?? ['s', 1000]
  const more = Math.floor((rest % unit) / nextUnit)
  return `${Math.floor(rest / unit)} ${name}${more > 0 ? ` ${more} ${nextName}` : ''}`
}

/** `now`, `12 s ago`, `in 3 h`, without the smaller unit; `never` in the year 9999, where a wait without an end is kept. */
export function momentInWords(iso: string, now: number): string {
  const at = Date.parse(iso)
  if (Number.isNaN(at)) return 'unknown'
  if (new Date(at).getUTCFullYear() >= 9999) return 'never'
  const distance = Math.abs(now - at)
  if (distance < 1500) return 'now'
  const [name, unit] = UNITS.find(([, unit]) => distance >= unit) ?? ['s', 1000]
  const amount = `${Math.round(distance / unit)} ${name}`
  return at > now ? `in ${amount}` : `${amount} ago`
}
