// A text as one word of a command line, so that a command that is printed can be pasted.

const PLAIN = /^[\w@%+=:,./-]+$/
/** What a terminal obeys or a line cannot hold. */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

export function shellWord(text: string): string {
  if (PLAIN.test(text)) return text
  return text.search(CONTROLS) >= 0 ? ansiQuoted(text) : `'${text.replaceAll("'", `'\\''`)}'`
}

/** `$'…'` of bash, zsh and ksh: the only quotes in which a line break stays on one line. */
function ansiQuoted(text: string): string {
  const escaped = text.replace(/[\\']/g, '\\$&').replace(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return `$'${escaped}'`
}
