/** What is no code: comments, strings, quoted names. */
const QUOTED = /--[^\n\r]*|\/\*.*?(?:\*\/|$)|(['"`]).*?\1|(?<!\w)(\$\w*\$).*?(?:\2|$)/gs

/** At the start of a statement; a rollback to a savepoint ends nothing. */
const WORD =
  /(?:^|;)\s*(begin|commit|end|abort|(?:start|prepare)\s+transaction|rollback(?!\s+to\b|\s+transaction\s+to\b|\s+work\s+to\b))\b/i

/** The first one that begins or ends a transaction: drivers send several statements in one text. The END of a trigger looks like one, too. */
export function transactionWord(sql: string): string | undefined {
  return WORD.exec(sql.replace(QUOTED, ' '))?.[1]
}
