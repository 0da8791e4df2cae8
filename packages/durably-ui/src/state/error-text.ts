/** What to show of something that was thrown. */
export function errorText(thrown: unknown): string {
  return thrown instanceof Error && thrown.message !== '' ? thrown.message : String(thrown)
}
