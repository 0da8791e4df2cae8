// Histogram — how many durations fall between which bounds. The bounds grow by a constant factor, because runs of one job may take from
// milliseconds to hours.

export interface Bar {
  readonly fromMs: number
  readonly toMs: number
  readonly count: number
}

const BARS_MAX = 24

export function histogramOf(durationsMs: readonly number[]): Bar[] {
  if (durationsMs.length === 0) return []
  const logs = durationsMs.map((ms) => Math.log10(Math.max(1, ms)))
  const first = Math.floor(Math.min(...logs) * 4) / 4
  const last = Math.max(...logs)
  const step = Math.max(0.25, (last - first) / (BARS_MAX - 1))
  const bars = Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => ({
    fromMs: 10 ** (first + i * step),
    toMs: 10 ** (first + (i + 1) * step),
    count: 0,
  }))
  for (const log of logs) {
    const bar = bars[Math.min(bars.length - 1, Math.floor((log - first) / step))]
    if (bar) bar.count++
  }
  return bars
}

/** The duration that this part of them does not exceed; null without durations. */
export function quantile(durationsMs: readonly number[], part: number): number | null {
  const sorted = durationsMs.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? null
}
