export interface Cost {
  operation: string
  /** Transactions that write. */
  commits: number
  /** Without `begin` and `commit`. */
  statements: number
  /** Outside of a transaction. */
  reads: number
}

/** docs/commits.md, from what was counted. */
export function commitsDoc(costs: readonly Cost[]): string {
  const rows = costs.map(({ operation, commits, statements, reads }) => `| ${operation} | ${commits} | ${statements} | ${reads} |`)
  return `# What an operation costs

How many commits and statements each operation needs. The speed of a durable runtime depends on how few commits it makes. The numbers are
counted, not timed: a test runs each operation on an SQLite file, counts the statements that reach the driver, and compares them with this page (\`packages/durably/tests/engine/commits.test.ts\`).
\`npm run docs\` writes the page again.

- *Commits* are transactions that write.
- *Statements* are counted without \`begin\` and \`commit\`; *reads* are those among them that only read, outside of a transaction.
- A run is counted from the query before its claim to its end, without the trigger. A run of *k* steps takes *k* + 2 commits, and
  nothing is read between its steps; whether a write was accepted is read within its own transaction.
- Progress is stored with the next write of its run, and so are log lines with \`withLogPersistence()\`. Without such a write they are
  stored after 100 ms, with a heartbeat. Lines of runs that wait or have ended are written in batches, which adds commits.

| Operation | Commits | Statements | Reads |
|---|---|---|---|
${rows.join('\n')}
`
}
