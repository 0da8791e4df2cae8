// Texts of jobs may hold anything, also codes that move the cursor or change what a terminal shows. None of them is sent to it.

const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** One line without control characters. */
export function printable(text: string): string {
  return text.replace(CONTROLS, (control) => (control === '\n' || control === '\t' ? ' ' : '\ufffd'))
}

/** The same for several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n')
}

/** A value as JSON. It holds no control characters, because JSON escapes those that a terminal obeys, and we the rest. */
export function shownValue(value: unknown, indent?: number): string {
  return printableLines(JSON.stringify(value, null, indent) ?? 'undefined')
}
