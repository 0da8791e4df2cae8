// What became of schedules, runs and processes while their leader was suspended again and again.
import type { StormReport } from '../schedules/storm-report.ts'

const NAMES = { sqlite: 'SQLite', postgres: 'Postgres' }

export function stormSection(reports: readonly StormReport[]): string {
  const lines: [string, (report: StormReport) => number][] = [
    ['seconds', ({ storm }) => storm.seconds],
    ['worker processes', ({ options }) => options.workers],
    ['pauses of the leader past its lease', ({ options }) => options.pauses],
    ['SIGKILL', ({ storm }) => storm.killed],
    ['changes of the leader', ({ storm }) => storm.changes],
    ['longest time without a leader after a lease, ms', ({ storm }) => storm.leaderlessMs],
    ['leaders that were refused', ({ storm }) => storm.deposed],
    ['of these, without a report', ({ storm }) => storm.unreported],
    ['reports of a locked database', ({ storm }) => storm.busy],
    ['times used, `misfire: all`', ({ storm }) => storm.all.length],
    ['times used, `misfire: once`', ({ storm }) => storm.once.length],
    ['executions', ({ storm }) => storm.executions],
    ['runs that lost their process', ({ storm }) => storm.reclaimed],
    ['violations', ({ faults }) => faults.length],
  ]
  return `## A leader that is cut off

Processes share one database. The one that leads is suspended past its lease, again and again, and others are killed, while two schedules fire every
second and the leader chooses the worker of each run (\`dispatch: 'leader'\`). With \`misfire: 'all'\` every second must have exactly one run; with
\`misfire: 'once'\` none may have two. A leader that was replaced must say that it was refused. No run may be executed by two processes at once, and
every run must complete. On SQLite a process that is suspended inside of a transaction keeps the lock of the file: then nobody takes over until it goes on, and
the leader stays the same. \`npm run storm\` repeats it.

|  | ${reports.map(({ store }) => NAMES[store]).join(' | ')} |
| --- |${' --- |'.repeat(reports.length)}
${lines.map(([name, figure]) => `| ${name} | ${reports.map(figure).join(' | ')} |`).join('\n')}`
}
