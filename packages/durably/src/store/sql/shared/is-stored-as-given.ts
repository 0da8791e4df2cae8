/** Neither a NUL nor half of a surrogate pair can be stored: something else stands in its place then. */
export function isStoredAsGiven(text: string | null): boolean {
  return text === null || (text.isWellFormed() && !text.includes('\0'))
}
