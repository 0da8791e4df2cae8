const CHARS_MAX = 120

/** The beginning of an error: what somebody recognizes it by. */
export function firstLine(text: string): string {
  const [line = ''] = text.split('\n')
  return line.length > CHARS_MAX ? `${line.slice(0, CHARS_MAX)}…` : line
}
