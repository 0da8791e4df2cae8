// Finds a statement that would begin or end a transaction in a query inside `ctx.transaction`. Drivers send several statements in one text,
// and one of them may end the transaction.

/** How a database reads such a text. */
export interface Script {
  /** The text without comments, strings and quoted names. */
  codeOf(sql: string): string
  /** Matches the beginning, up to the first semicolon, of a statement whose body contains others, such as a trigger; the body ends with END. */
  opensBody: RegExp
}

/** Such a word at the start of a statement. A rollback to a savepoint does not end the transaction. */
const WORD = /^\s*(begin|commit|end|abort|(?:start|prepare)\s+transaction|rollback(?!\s+to\b|\s+transaction\s+to\b|\s+work\s+to\b))\b/i

/** The first statement of a text that begins or ends a transaction. */
export function transactionWord(sql: string, { codeOf, opensBody }: Script): string | undefined {
  let isBody = false
  for (const statement of codeOf(sql).split(';')) {
    const word = WORD.exec(statement)?.[1]
    // END inside a body ends the body. No other of these words can be in a body, so it is refused.
    if (isBody && word?.toLowerCase() === 'end') isBody = false
    else if (word) return word
    isBody ||= opensBody.test(statement)
  }
  return undefined
}
