/** Three digits, as a reader can compare them. */
export function short(value: number): string {
  if (value >= 1e6) return `${(value / 1e6).toPrecision(3)} M`
  if (value >= 1e4) return `${(value / 1e3).toPrecision(3)} k`
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)
}

export function times(ratio: number): string {
  return ratio >= 10 ? ratio.toFixed(0) : ratio.toFixed(2)
}
