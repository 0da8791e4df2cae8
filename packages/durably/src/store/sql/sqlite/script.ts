// The statements that begin and end a transaction of SQLite, and what SQLite takes for code in a text with several statements.
import { CompiledQuery } from 'kysely'
import type { TransactionStatements } from '../shared/transaction.ts'
import type { Script } from '../shared/transaction-word.ts'

/** Whatever is not closed is an error, or a comment, up to the end. */
const QUOTED = /--[^\n]*|\/\*.*?(?:\*\/|$)|'[^']*(?:'|$)|"[^"]*(?:"|$)|`[^`]*(?:`|$)|\[[^\]]*(?:\]|$)/gs

export const SQLITE_SCRIPT: Script = {
  codeOf: (sql) => sql.replace(QUOTED, ' '),
  opensBody: /^\s*create\s+(?:temp(?:orary)?\s+)?trigger\b.*\bbegin\b/is,
}

export const SQLITE_TRANSACTIONS: TransactionStatements = {
  begin: CompiledQuery.raw('begin immediate'),
  commit: CompiledQuery.raw('commit'),
  rollback: CompiledQuery.raw('rollback'),
  script: SQLITE_SCRIPT,
  watch: {
    begin: CompiledQuery.raw('savepoint durably_transaction'),
    end: CompiledQuery.raw('release durably_transaction'),
    probe: CompiledQuery.raw('begin'),
  },
}
