function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

export function summary(values: readonly number[]): string {
  const ms = (p: number) => `${percentile(values, p).toFixed(1)} ms`
  return `p50 ${ms(0.5)}, p95 ${ms(0.95)}, max ${ms(1)} (n = ${values.length})`
}
