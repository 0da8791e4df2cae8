// What is sent inside of `ctx.transaction` is looked at before: drivers send several statements in one text, and one of them may end it.

/** How a database reads such a text. */
export interface Script {
  /** Without what is no code: comments, strings, quoted names. */
  codeOf(sql: string): string
  /** A statement, up to its first semicolon, that holds others; they end with an END of their own. */
  opensBody: RegExp
}

/** At the start of a statement; a rollback to a savepoint ends nothing. */
const WORD = /^\s*(begin|commit|end|abort|(?:start|prepare)\s+transaction|rollback(?!\s+to\b|\s+transaction\s+to\b|\s+work\s+to\b))\b/i

/** The first one that begins or ends a transaction. */
export function transactionWord(sql: string, { codeOf, opensBody }: Script): string | undefined {
  let isBody = false
  for (const statement of codeOf(sql).split(';')) {
    const word = WORD.exec(statement)?.[1]
    // Whatever else ends a transaction is no statement that a body may hold.
    if (isBody && word?.toLowerCase() === 'end') isBody = false
    else if (word) return word
    isBody ||= opensBody.test(statement)
  }
  return undefined
}
