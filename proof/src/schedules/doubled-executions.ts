// What the ledger of a storm says: which runs were executed by two processes at once.
interface Execution {
  pid: number
  from: number
  to: number
}

/** `killedAt`: when a process was killed, which then executed nothing any more. */
export function doubledExecutions(ledger: string, killedAt: ReadonlyMap<number, number>) {
  const byRun = new Map<string, Execution[]>()
  for (const line of ledger.split('\n').filter(Boolean)) {
    const [what, runId = '', pid, at] = line.split(' ')
    const executions = byRun.get(runId) ?? []
    byRun.set(runId, executions)
    const open = executions.findLast((one) => one.pid === Number(pid) && one.to === Number.POSITIVE_INFINITY)
    if (what === 'begin') executions.push({ pid: Number(pid), from: Number(at), to: Number.POSITIVE_INFINITY })
    else if (open) open.to = Number(at)
  }
  const ended = ({ pid, to }: Execution) => Math.min(to, killedAt.get(pid) ?? Number.POSITIVE_INFINITY)
  const doubled = [...byRun].flatMap(([runId, executions]) => {
    const inOrder = executions.toSorted((a, b) => a.from - b.from)
    return inOrder.some((one, i) => i > 0 && one.from < ended(inOrder[i - 1] ?? one)) ? [`${runId}: ${JSON.stringify(inOrder)}`] : []
  })
  const all = [...byRun.values()]
  return { doubled, executions: all.flat().length, reclaimed: all.filter(({ length }) => length > 1).length }
}
