// What Postgres takes for code, as its scan.l reads it with `standard_conforming_strings`.
//   - Comments may stand inside of comments.
//   - In E'…' a backslash takes the next character with it, also where the string goes on after a line break.
//   - A dollar or an E inside of a name begins nothing.
import { CompiledQuery } from 'kysely'
import type { TransactionStatements } from '../shared/transaction.ts'
import type { Script } from '../shared/transaction-word.ts'

const QUOTED =
  /--[^\n\r]*|\/\*|(?<![\w$\u0080-\uffff])e'(?:[^'\\]|\\.?|'(?:\s|--[^\n\r]*[\n\r])*')*(?:'|$)|'[^']*(?:'|$)|"[^"]*(?:"|$)|(?<![\w$\u0080-\uffff])(\$(?:[a-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$).*?(?:\1|$)/gis

const COMMENT_EDGE = /\/\*|\*\//g

function codeOf(sql: string): string {
  let code = ''
  let at = 0
  for (;;) {
    QUOTED.lastIndex = at
    const found = QUOTED.exec(sql)
    if (!found) return code + sql.slice(at)
    code += `${sql.slice(at, found.index)} `
    at = found[0] === '/*' ? endOfComment(sql, found.index) : QUOTED.lastIndex
  }
}

function endOfComment(sql: string, start: number): number {
  COMMENT_EDGE.lastIndex = start
  let depth = 0
  do {
    const edge = COMMENT_EDGE.exec(sql)
    if (!edge) return sql.length
    depth += edge[0] === '/*' ? 1 : -1
  } while (depth > 0)
  return COMMENT_EDGE.lastIndex
}

export const POSTGRES_SCRIPT: Script = {
  codeOf,
  opensBody: /^\s*create\s+(?:or\s+replace\s+)?(?:function|procedure)\b.*\bbegin\s+atomic\b(?!\s+end\b)/is,
}

export const POSTGRES_TRANSACTIONS: TransactionStatements = {
  begin: CompiledQuery.raw('begin'),
  commit: CompiledQuery.raw('commit'),
  rollback: CompiledQuery.raw('rollback'),
  script: POSTGRES_SCRIPT,
  limit: (statementMs) => CompiledQuery.raw(`set local statement_timeout = ${statementMs}`),
}
