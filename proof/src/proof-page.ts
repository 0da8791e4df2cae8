// docs/proof.md, from the figures of one `npm run proof`.
import type { SimFigures } from '../../packages/durably/dist/testing/simulator/judge.js'
import type { Hunted } from './mutant-hunt.ts'
import { MUTANT_SEEDS_MAX } from './mutant-hunt.ts'
import type { TorturedControl } from './torture/controls.ts'
import type { Tortured } from './torture/torture.ts'

export interface ProofFigures {
  cores: number
  node: string
  simulations: Simulation[]
  mutants: Hunted[]
  tortures: TorturedTwice[]
  /** The same with the workload and the judge of an outsider. */
  outsides: TorturedTwice[]
}

interface TorturedTwice {
  real: Tortured
  controls: TorturedControl[]
}

interface Simulation extends SimFigures {
  store: string
  seeds: number
  /** Which ones. */
  range: string
  seconds: number
  faults: number
  violations: number
}

const INVARIANTS: [string, string][] = [
  ['I1a', 'a run never has two owners: between two claims every event of an owner carries the generation of the last claim'],
  ['I1b', 'there are never two running runs with one concurrency key'],
  [
    'I1c',
    'functions of one run, or of one key, overlap only if the one that began first had its lease taken away, or went on when its time was over or its job had thrown',
  ],
  ['I2b', 'a step is recorded at most once, and its record never changes'],
  ['I2c', 'a step function runs at most once per lease, and never under a lease that began after the record'],
  ['I3', 'nothing happens after the end of a run, except a retry after a failure'],
  ['I4', 'the event numbers of a run have no gaps from 1 but for the chunks of recorded streams, and what was sent twice is written once'],
  ['I5', 'once faults stop, every run comes to its end'],
  [
    'I6',
    'nobody but the owner writes, a lease is taken away only when it is over or its owner is known to be gone, and whoever was told to stop starts no further step',
  ],
  ['I7', '`current_step_index` is the number of recorded steps, and every step event has its row'],
  ['I9', 'a run fails by its own code or by a limit, never because the database was away'],
  ['I10', 'without faults every step runs exactly once for each of its records, and no run is taken back'],
  ['I11', 'what a job saw of a step is what was recorded, on the first execution and on every other'],
  ['I12', 'there is one run per job and idempotency key, and everybody who asked got its id'],
  ['I13', 'running means owned, with a lease'],
  ['I14', 'versions, generations and event counters never go back, and every change of status is in the transition table'],
  ['I15', 'a run that was asked to stop comes to an end, and no other one is cancelled'],
  ['I17', 'recoveries stay within their cap'],
  ['I18', 'what was acknowledged is still there'],
  ['I20', 'of a recorded stream there is one chunk, with exactly what the attempt that recorded it had, and nothing left to take back'],
  [
    'I21',
    'whoever follows a stream, from any point and however often cut off, sees what one attempt really had: nothing twice, no hole, and after a takeover nothing of the superseded attempt but what a checkpoint kept',
  ],
  ['I22', 'a checkpoint that was acknowledged is not lost: the next attempt goes on from it or from a later one'],
  ['I23', 'whoever does not know what a claim took finds all of it'],
  ['I24', 'no execution starts before its `run_at` by the store’s clock, and that is not before the delay it was triggered with'],
  [
    'I25',
    'a sleep, the time of a wait and the delay of a step’s next try are over when they are over by the store’s clock, and keep their time whatever else wakes the run',
  ],
  [
    'I26',
    'what `waitFor` returns is the first signal that was accepted, and nobody is told that none came when one was there; with I5: nobody waits for ever with its signal present',
  ],
  [
    'I27',
    '`attempts` is the number of executions that failed since the last retry by hand; there are as many as the policy allows, no fewer and no more, with its delay between them',
  ],
  ['I28', 'a step is tried as often as its policy allows, and the job hears of its failure when that is used up'],
  [
    'I29',
    'a step triggers one child, and records that child or its output; where a run was cancelled none of those that it triggered starts anything, and none is left',
  ],
  [
    'I30',
    'what `ctx.transaction` wrote, and the run it triggered, is there exactly once if its step is recorded, and not at all if it is not',
  ],
  [
    'I31',
    'a function with `effect: ‘once’` is not entered twice, unless it is known to have failed or somebody said of its last start that it did not take place',
  ],
  [
    'I32',
    'a deadline is not slept over and not brought forward: nothing begins after it, what returns after it does not complete the run, and a lost run whose deadline is over fails',
  ],
  [
    'I33',
    'only what has ended goes, and by a purge only what ended long enough ago; a child not before the run that triggered it has completed, was cancelled or is gone, and one that was cancelled not before those that it triggered have ended',
  ],
  ['I34', 'where workers are tabs of one browser, only the one that leads claims, and one that has stopped does not lead'],
  [
    'I35',
    'who got the lead without stealing takes back at once what is left running; who stole it, or lost it since, waits for leases as everybody does',
  ],
  ['I36', 'a leader that is awake keeps the lead; one that stands still for long is replaced, if anybody waits'],
]

/** What the worlds came to see, beside steps and streams. */
const FEATURES: [string, (figures: SimFigures) => number][] = [
  ['attempts of jobs that failed and were followed by another', ({ retries }) => retries],
  ['tries of steps that failed under a policy', ({ tries }) => tries],
  ['runs out of time', ({ timeouts }) => timeouts],
  ['sleeps', ({ sleeps }) => sleeps],
  ['signals received', ({ signals }) => signals],
  ['waits whose time was over', ({ waitsOver }) => waitsOver],
  ['child runs', ({ children }) => children],
  ['effects in doubt', ({ doubts }) => doubts],
  ['transactions of users', ({ transactions }) => transactions],
  ['transactions cut at a statement', ({ cuts }) => cuts],
  ['runs purged', ({ purged }) => purged],
  ['terms of tabs that lead', ({ terms }) => terms],
  ['of them stolen', ({ thefts }) => thefts],
]

export function proofPage({ cores, node, simulations, mutants, tortures, outsides }: ProofFigures): string {
  const columns = tortures.flatMap(({ real, controls }): Column[] => [
    { ...real, kind: '' },
    ...controls.map((control) => ({ ...control, kind: ', control' as const })),
  ])
  const outsideColumns = outsides.map(({ real }): Column => ({ ...real, kind: '' }))
  const caught = mutants.filter(({ seed }) => seed !== null).length
  return `# Proof

This page is written by \`npm run proof\`. The figures are of its last run: ${cores} cores, Node ${node}.
\`npm test\` runs shorter forms of everything here.

## What is checked

The invariants are pure functions over the rows of the database, the event log and a ledger of what functions really did.
The simulator, the torture and the crash test for your own jobs use the same ones.

| | Invariant |
| --- | --- |
${INVARIANTS.map(([name, text]) => `| ${name} | ${text} |`).join('\n')}

## Simulation

The real engine on a store, with time, the line to the store and death simulated. Each seed is a world of its own: two to four
workers with up to six runs at once, three to twelve runs, and its own mix of what they are made of: steps and streams, sleeps, signals,
children, effects, policies, time limits, due times, and on SQL transactions with rows of the user. Outsiders send the signals and decide
about effects, over a line as bad as everybody's; a client triggers, cancels, retries and purges, and dies as the workers do. Each world has
its own mix of faults too: crashes before and after store calls, lost requests, lost replies, calls slower than a lease, transactions cut at a statement, paused processes, jumps of the database clock, skewed clocks, steps
that throw, values that the store rejects, cancels, retries, stops, purges. Then the faults stop, and everything must come to its end. Every
tenth seed has no fault. In a fifth of them the workers are tabs of one browser: they share its locks, one leads, and pauses are tabs that are
frozen or put aside. Runs that write at the same time share a commit, and a claim takes several: the faults strike those most.

| Store | Seeds | which | Seconds | Runs | Step executions | of them streams | Commits | shared | Claims | of several | Faults | Deaths | Simulated hours | Seeds with violations |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
${simulations
  .map(
    (s) =>
      `| ${s.store} | ${s.seeds} | ${s.range} | ${s.seconds} | ${s.runs} | ${s.executions} | ${s.streams} | ${s.commits} | ${s.groups} | ${s.claims} | ${s.batches} | ${s.faults} | ${s.kills} | ${Math.round(s.simulatedMs / 3_600_000)} | ${s.violations} |`,
  )
  .join('\n')}

| Seen | ${simulations.map(({ store }) => store).join(' | ')} |
| --- |${' --- |'.repeat(simulations.length)}
${FEATURES.map(([name, of]) => `| ${name} | ${simulations.map(of).join(' | ')} |`).join('\n')}

Which seeds these are follows from a hash of the engine's source: each change of it meets worlds that nobody has seen, and whoever has
the same source simulates the same ones. \`npm run sim -- --seeds 1000\` runs some, \`npm run sim -- --seed 42\` replays one, byte for byte.
A seed that fails is shrunk to the fewest faults that still break it, and joins \`proof/corpus.txt\`, which always runs first.

## Mutants

A harness that finds nothing may be blind. So one guard after the other is taken out of the engine's source, and the simulator
must notice within ${MUTANT_SEEDS_MAX} seeds: ${caught} of ${mutants.length} caught. \`npm run mutants\` repeats it.

| Taken out | First seed | Broken |
| --- | --- | --- |
${mutants.map(({ mutant, seed, by }) => `| ${mutant.guard} | ${seed ?? 'not caught'} | ${by.join(' ')} |`).join('\n')}

## Real death

Real worker processes on one database, killed with SIGKILL and frozen with SIGSTOP at random, while steps last about as long as a
lease. Every function writes to a ledger outside the database. The control is the same engine without its fence: it must be caught.

On Postgres the server crashes as well (\`pg_ctl restart -m immediate\`), backends are terminated, and everybody is connected by a
line that is cut, delays what goes through it, and swallows replies: the connection stays open, what was asked is done, and no
answer comes. No worker process may end by itself.

\`npm run torture -- --seconds 60\` repeats it on SQLite, with \`--store postgres\` on Postgres.

${table(columns)}

## A judge from outside

The same storm over a second workload, written with the public API alone: every run has plain steps, a transaction with rows of the user,
a stream with checkpoints, an effect with \`reconcile\`, children, a sleep, a signal, side by side as it comes; three processes race to
trigger it, others send its signal until they hear that it was accepted, and follow it while they are cut off again and again. The judge
knows no lease. It has what an outsider can see: public reads, rows, and a ledger of effects that is on the disk before they count.
Workers are stopped with SIGTERM too, clocks are wrong and jump (by seconds on SQLite, by hours on Postgres), and now and then a run has
a hundred and fifty children. \`npm run torture -- --workload outside --faults kill,skew\` repeats a part of it.

${table(outsideColumns)}

Controls, each with one guard taken out, and what was broken then:

| Taken out | ${outsides.map(({ real }) => NAMES[real.store]).join(' | ')} |
| --- |${' --- |'.repeat(outsides.length)}
${controlRows(outsides)}

## What is not covered

A proof says something about what it looks at. This is what none of the above looks at, so that nobody takes it for proven:

- **Postgres is not simulated.** Its statements are tried by the store contract, by the model with random commands, by races on two
  connections and by the storms here, but not under the virtual clock with faults at every call.
- **Power cuts and lying disks.** A process is killed, a server is crashed; no machine loses its power here. What survives that is what
  SQLite and Postgres promise for their settings ([durability](guarantees.md#durability)).
- **Functions that block the event loop.** A worker that computes for longer than its lease looks like one that is frozen, and freezing is
  tried; but the simulator's functions always yield.
- **Memory that runs out**, and disks that do, beyond the tests that fill one.
- **Several versions at work on one database.** Migrations are tested from each version to the next; a fleet that is half updated is not.
- **Browsers other than Chromium.** Tabs are simulated with the browser's locks as the standard has them, and tried in Chromium.
- **HTTP.** Server and client have tests, fuzzed inputs and \`npm run accept:fleet\`; they are not part of the simulated worlds.
- **Rows that somebody else writes.** Whoever changes the tables by hand is outside of every promise.
- **Speed.** Nothing here says how fast anything is; \`npm run bench\` does.

## How to repeat a figure

| | |
| --- | --- |
| all of this page | \`npm run proof\` (hours on two cores; it prints each part as it ends) |
| the simulated worlds | \`npm run sim -- --seeds 200000\`, \`npm run sim -- --seeds 20000 --store sqlite\`: the range follows from the source, and is printed |
| a range of your own | \`npm run sim -- --seeds 10000 --from 123456789\` |
| one world | \`npm run sim -- --seed 42\`, with \`--trace\` for every store call in order |
| the mutants | \`npm run mutants\`, one with \`npm run mutants -- --only no-fence\` |
| real death | \`npm run torture -- --seconds 60 --store postgres\`, with \`--workload\`, \`--faults\`, \`--control\` for a part of it |
| browsers | \`npm run torture:browser\` |
| the fleet behind HTTP | \`npm run accept:fleet\` |
`
}

function table(columns: Column[]): string {
  return [
    row('', columns, ({ store, kind }) => `${NAMES[store]}${kind}`),
    `| --- |${' --- |'.repeat(columns.length)}`,
    figureRows(columns),
  ].join('\n')
}

function controlRows(outsides: TorturedTwice[]): string {
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
    ['runs taken back', ({ figures }) => figures.reclaims],
    ['runs given back', ({ figures }) => figures.releases],
    ['healed in, s', ({ figures }) => (figures.healMs / 1000).toFixed(1)],
    ['violations', ({ violations }) => violations.length],
  ]
  return lines.map(([name, of]) => row(name, columns, of)).join('\n')
}
