export interface Cost {
  operation: string
  /** Transactions that write. */
  commits: number
  /** Without `begin` and `commit`. */
  statements: number
  reads: number
}

/** docs/commits.md, from what was counted. */
export function commitsDoc(costs: readonly Cost[]): string {
  const rows = costs.map(({ operation, commits, statements, reads }) => `| ${operation} | ${commits} | ${statements} | ${reads} |`)
  return `# What an operation costs

A durable runtime is as fast as its commits are few. These numbers are counted, not timed: a test runs each operation on a SQLite
file, counts what reaches the driver, and compares it with this page (\`packages/durably/tests/engine/commits.test.ts\`).
\`npm run docs\` writes the page again.

- *Commits* are transactions that write.
- *Statements* are counted without \`begin\` and \`commit\`; *reads* are those among them that only read.
- A run is counted from the look before its claim to its end, without the trigger. A run of *k* steps takes *k* + 2 commits, and
  nothing is read between its steps.
- Progress rides on the next write of its run. With \`withLogPersistence()\` so do log lines; lines of runs that wait or have ended
  are written in batches, which adds commits.

| Operation | Commits | Statements | Reads |
|---|---|---|---|
${rows.join('\n')}
`
}
