// What real processes came to, judged by the invariants and from outside.
import type { TorturedControl } from '../torture/controls.ts'
import type { Tortured } from '../torture/torture.ts'

export interface TorturedTwice {
  real: Tortured
  controls: TorturedControl[]
}

export function processSection(tortures: readonly TorturedTwice[]): string {
  const columns = tortures.flatMap(({ real, controls }): Column[] => [
    { ...real, kind: '' },
    ...controls.map((control) => ({ ...control, kind: ', control' as const })),
  ])
  return `## Real processes

Real worker processes share one database. They are killed with SIGKILL and suspended with SIGSTOP at random, while steps last about as long
as a lease. Every function writes to a ledger outside the database. As a control, the same test runs with an engine whose writes are not
fenced; it must report violations.

On Postgres the server crashes as well (\`pg_ctl restart -m immediate\`), backends are terminated, and all processes connect through a proxy
that cuts connections, delays data, and swallows replies: the connection stays open, the request is executed, and no answer comes. No
worker process may exit by itself.

\`npm run torture -- --seconds 60\` repeats it on SQLite, with \`--store postgres\` on Postgres.

${table(columns)}`
}

export function outsideSection(outsides: readonly TorturedTwice[]): string {
  const columns = outsides.map(({ real }): Column => ({ ...real, kind: '' }))
  return `## A judge from outside

The same faults hit a second workload, which uses only the public API. Every run has plain steps, a transaction with rows of the user, a
stream with checkpoints, an effect with \`reconcile\`, children, a sleep and a signal, some of them in parallel. Three processes race to
trigger it; others send its signal until it is accepted, and follow it while they are disconnected again and again. The judge knows nothing
about leases. It uses what an outsider can see: public reads, rows, and a ledger of effects that is on disk before an effect counts. Workers
are also stopped with SIGTERM, clocks are wrong and jump (by seconds on SQLite, by hours on Postgres), and some runs have a hundred and fifty
children. \`npm run torture -- --workload outside --faults kill,skew\` repeats a part of it.

${table(columns)}

Controls: engines with one guard removed, and the checks that failed:

| Removed guard | ${outsides.map(({ real }) => NAMES[real.store]).join(' | ')} |
| --- |${' --- |'.repeat(outsides.length)}
${controlRows(outsides)}`
}

function table(columns: Column[]): string {
  return [
    row('', columns, ({ store, kind }) => `${NAMES[store]}${kind}`),
    `| --- |${' --- |'.repeat(columns.length)}`,
    figureRows(columns),
  ].join('\n')
}

function controlRows(outsides: readonly TorturedTwice[]): string {
  const [first] = outsides
  const lines = first?.controls.map(({ mutant }, i) => {
    const cells = outsides.map(({ controls }) => [...new Set(controls[i]?.violations.map(({ invariant }) => invariant))].join(' '))
    return `| ${mutant.guard} | ${cells.map((cell) => cell || 'not caught').join(' | ')} |`
  })
  return lines?.join('\n') ?? ''
}

const NAMES = { sqlite: 'SQLite', postgres: 'Postgres' }

interface Column extends Tortured {
  kind: '' | ', control'
}

function row(name: string, columns: Column[], cell: (column: Column) => number | string): string {
  return `| ${name} | ${columns.map(cell).join(' | ')} |`
}

function figureRows(columns: Column[]): string {
  const fault = (name: string) => (tortured: Tortured) => tortured.figures.faults[name] ?? ''
  const lines: [string, (tortured: Tortured) => number | string][] = [
    ['seconds', ({ figures }) => figures.seconds],
    ['worker processes', ({ figures }) => figures.workers],
    ['lease, ms', ({ figures }) => figures.leaseMs],
    ['runs', ({ figures }) => figures.runs],
    ['step executions', ({ figures }) => figures.stepExecutions],
    ['steps executed more than once', ({ figures }) => figures.stepsExecutedMoreThanOnce],
    ['SIGKILL', ({ figures }) => figures.kills],
    ['SIGTERM', ({ figures }) => figures.stops],
    ['SIGSTOP', ({ figures }) => figures.pauses],
    ['server crashes', fault('restarts')],
    ['backends terminated', fault('terminated')],
    ['connections cut', fault('cuts')],
    ['delays on the line', fault('delays')],
    ['replies swallowed', fault('swallowed')],
    ['runs reclaimed', ({ figures }) => figures.reclaims],
    ['runs released', ({ figures }) => figures.releases],
    ['all runs ended after, s', ({ figures }) => (figures.healMs / 1000).toFixed(1)],
    ['violations', ({ violations }) => violations.length],
  ]
  return lines.map(([name, of]) => row(name, columns, of)).join('\n')
}
