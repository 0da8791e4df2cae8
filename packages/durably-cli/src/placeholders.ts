// Placeholders — what stands in a printed command for what only the reader knows. One that was pasted and left in is refused.

export const VALUE = '<value as JSON>'
export const RESULT = '<result as JSON>'
export const MESSAGE = '<message>'
export const INPUT = '<input as JSON>'
export const LABELS = '<name=value>'

export function fileThatDefines(jobNames: readonly string[]): string {
  return `<file that defines ${jobNames.join(', ')}>`
}

export function isPlaceholder(word: string): boolean {
  return [VALUE, RESULT, MESSAGE, INPUT, LABELS].includes(word) || /^<file that defines .*>$/s.test(word)
}
