/** More changes than this make another word of it. */
const CHANGES_MAX = 3
const SLIP_MAX = 2

/** The known word that is nearest to a wrong one; undefined if none is near. */
function nearest(wrong: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((word) => ({
      word,
      changes: word.startsWith(wrong) && wrong.length > 1 ? 1 : changesBetween(wrong.toLowerCase(), word.toLowerCase()),
    }))
    .filter(({ word, changes }) => changes <= Math.min(CHANGES_MAX, Math.ceil(word.length / 2)))
    .sort((a, b) => a.changes - b.changes)
  return ranked[0]?.word
}

/** "…; did you mean X?", or all words where none is near. */
export function suggestion(wrong: string, known: readonly string[]): string {
  const word = nearest(wrong, known)
  return word === undefined ? `there is ${known.join(', ')}` : `did you mean ${word}?`
}

/** Another word that differs by a slip of the keyboard only, such as one letter too many; undefined if there is none. */
export function misspelt(word: string, known: readonly string[]): string | undefined {
  const max = Math.min(SLIP_MAX, Math.floor(word.length / 3))
  const ranked = known
    .map((other) => ({ other, changes: changesBetween(word, other) }))
    .filter(({ changes }) => changes > 0 && changes <= max)
    .sort((a, b) => a.changes - b.changes)
  return ranked[0]?.other
}

/** How many letters must be inserted, removed, replaced or swapped with their neighbour. */
function changesBetween(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced, isSwapped ? (before[j - 2] ?? 0) + 1 : replaced))
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}
