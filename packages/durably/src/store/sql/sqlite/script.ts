import type { Script } from '../shared/transaction-word.ts'

/** Whatever is not closed is an error, or a comment, up to the end. */
const QUOTED = /--[^\n]*|\/\*.*?(?:\*\/|$)|'[^']*(?:'|$)|"[^"]*(?:"|$)|`[^`]*(?:`|$)|\[[^\]]*(?:\]|$)/gs

export const SQLITE_SCRIPT: Script = {
  codeOf: (sql) => sql.replace(QUOTED, ' '),
  opensBody: /^\s*create\s+(?:temp(?:orary)?\s+)?trigger\b.*\bbegin\b/is,
}
