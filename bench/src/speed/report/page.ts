// BENCHMARKS.md: the table, the plot, every figure with its version and durability, and what to think of them.
import type { Contender } from '../contender.ts'
import { CONTENDERS } from '../contenders.ts'
import type { Results, RowResult } from '../results.ts'
import { short, times } from './numbers.ts'
import { figure, ratioTable } from './ratio-table.ts'

export function benchmarksPage(results: Results): string {
  return `# Benchmarks

How fast Durably is beside the databases it runs on and beside other libraries. \`npm run bench\` measures everything on this page and writes
it again.

${provenance(results)}

${ratioTable(results)}

\\* Time was up before all runs had ended; the rate is that of those that had.

![For each row of the table, one bar per library: how many times as fast as Durably it is.](docs/images/benchmarks.svg)

## How it is measured

- \`npm run bench\` takes at most 30 minutes. \`npm run bench -- --quick\` takes about three, only shows that everything works, and leaves this page as it is.
  \`npm run bench -- --only pg-drain\` measures one row, \`--rounds 9\` sets the number of rounds.
- Each measurement has a process and an empty store of its own. In each round all contenders of a row follow each other, in another order each
  time. A figure is the median of the rounds, a ratio the median of the ratios within a round.
- The first tenth of the operations warms the process up and is not counted. A drain is timed until the store has no unfinished run.
- In rows without steps, libraries that would need minutes get a tenth to a third of the runs. That spares them a long queue, and leaves them less
  time to warm up.
- Stores are on the disk of the repository. Postgres is started for the bench, with \`fsync\`, \`full_page_writes\` and autovacuum on.
- *Reference* is the raw limit: the same rows, written by hand into bare tables with prepared statements of the same driver. It has no fence,
  no event log and no job code, so nothing that does our work can reach it where it counts commits; where writes of several runs share a
  commit, it can be passed. In the rows beside ended runs the reference is the same drain on an empty store, in memory it is \`p-queue\`.
- The peers are in \`bench/peers\`, pinned, and are installed at the first use of the bench, never by \`npm install\`. On Node 20 they are the
  newest versions that accept it. better-sqlite3 needs a compiler, or a binary for your system that its installer can download; without it the
  rows that need it say so. BullMQ on Redis needs \`redis-server\`, absurd its SQL file.
- \`npm run bench -- --check\` measures no time at all: it compares statements, commits, round trips, pages and bytes of log for each operation with
  \`bench/baseline.json\`, and is part of the tests.

## Where the time goes

- **A step on SQLite** is one transaction: a guarded update of the run, the step and its event, 7 pages in the write-ahead log. Of 250 µs of processor time two thirds are
  inside SQLite, half of that in the commit, and about 60 µs are JavaScript. The same rows and statements by hand, without the engine, take 150 µs where
  \`raw\` takes 68: it writes two trees, a step of ours six. Tried: steps in one tree, 40 µs less, rejected
  ([ADR 0028](docs/adr/0028-the-end-of-a-lease-is-in-no-index.md)); a larger \`wal_autocheckpoint\`, 25 µs less, rejected because more would be lost
  at a power cut with \`durability: 'relaxed'\`.
- **Ten runs at once on SQLite** share their commits. Of 195 µs of processor time for each step 115 are inside SQLite, for statements rather than commits.
- **A run without steps, one at a time, on SQLite** is two transactions after it was created, 14 pages: it is claimed and ended, each with its event. plainjob
  writes its job twice, without a fence and without a log.
- **A step on Postgres** is one statement and one round trip, 1.5 kB of write-ahead log, two fifths of which are the event.
- **Ten runs at once on Postgres** share a statement, in which each run is looked up by itself: 220 to 360 µs of a backend's processor time for each step, on a busy machine.
- **Dialects that you bring** are measured with \`keepStatements\`. Without it a step takes about twice as long, because Kysely prepares each statement anew.

## What is not measured

- **Work.** No handler does anything, and payloads are tiny. With real steps of milliseconds the differences on this page are hardly visible.
- **Several machines.** Database, worker and caller share one machine and its cores, over the loopback network. With a network between them round
  trips count for more and processor time for less.
- **More than one worker process**, contention between workers, failures, retries, timers, signals and large values.
- **What settings give.** Libraries run as their documentation suggests, or with the settings named below. Someone who knows one better may make
  it faster.
- **What survives a power cut.** Durability is stated from settings; the bench cuts no power. [Guarantees](docs/guarantees.md) has what Durably promises.
- **Memory and the size of the store.** \`npm run bench -- limits\` measures memory, long runs, long logs and long queues by themselves.

## What each one does more or less

${differences(results)}

## All figures

${results.rows.map(details).join('\n\n')}
`
}

function provenance({ machine, seconds, rows }: Results): string {
  const rounds = Math.max(...rows.flatMap(({ results }) => results.map((result) => result.rounds)))
  const { at, node, postgres, cpu, cores, memoryGiB, load, commit } = machine
  const busy = Math.max(...load) > cores + 1 ? ' **Other programs kept the machine busy meanwhile, so even ratios are unreliable.**' : ''
  return `${at.slice(0, 16).replace('T', ' ')} UTC, commit ${commit}, ${rounds} round${rounds === 1 ? '' : 's'}, ${seconds} s. ${cpu}, ${cores} cores, ${memoryGiB} GiB,
Node ${node.slice(1)}${postgres ? `, Postgres ${postgres}` : ''}; load average ${load[0]} before and ${load[1]} after.${busy} Only ratios can be compared between machines.`
}

function differences({ rows }: Results): string {
  const keys = new Set(rows.flatMap(({ results }) => results.map(({ key }) => key)))
  return Object.entries<Contender>(CONTENDERS)
    .filter(([key]) => keys.has(key))
    .map(([, { title, differs }]) => `- **${title}**: ${differs}.`)
    .join('\n')
}

function details({ id, title, results }: RowResult): string {
  const lines = results.map((result) => {
    const { median, least = 0, most = 0, rounds, timesAsFast } = result
    const spread = median === undefined ? '' : `${short(least)} – ${short(most)}`
    return [
      result.title,
      result.version,
      result.durability,
      figure(result),
      spread,
      rounds,
      timesAsFast === undefined ? '' : times(timesAsFast),
    ]
  })
  const head = ['', 'Version', 'Durability', 'Median', 'Range', 'Rounds', 'Times as fast as its reference']
  const table = [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
  return `### ${title}\n\n\`npm run bench -- --only ${id}\`\n\n${table}`
}
