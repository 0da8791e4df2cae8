// docs/proof.md, from the figures of one `npm run proof`.
import type { SimFigures } from '../../packages/durably/dist/testing/simulator/judge.js'
import type { Hunted } from './mutant-hunt.ts'
import { MUTANT_SEEDS_MAX } from './mutant-hunt.ts'
import type { RanOn } from './packed/runtimes.ts'
import type { TorturedControl } from './torture/controls.ts'
import type { Tortured } from './torture/torture.ts'

export interface ProofFigures {
  cores: number
  node: string
  runtimes: RanOn[]
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
  ['I1b', 'two running runs never have the same concurrency key'],
  [
    'I1c',
    'functions of one run, or of one concurrency key, overlap only if the lease of the earlier one was reclaimed, or if it ignored its abort signal after a timeout or after its job had thrown',
  ],
  ['I2b', 'a step is recorded at most once, and its record never changes'],
  ['I2c', 'a step function runs at most once per lease, and never under a lease that began after the step was recorded'],
  ['I3', 'a run that has ended does not change, except that a failed one can be retried'],
  [
    'I4',
    'the event numbers of a run count from 1 without gaps, except for the chunks of recorded streams, and a write that is sent twice is applied once',
  ],
  ['I5', 'once faults stop, every run ends'],
  [
    'I6',
    'only the owner writes about its run, a lease is taken away only after it expired or when its owner is known to be gone, and an execution that was asked to stop starts no further step',
  ],
  ['I7', '`current_step_index` is the number of recorded steps, and every step event has its row'],
  ['I9', 'a run fails because of its own code or a limit, never because the database was unreachable'],
  ['I10', 'without faults every step runs exactly once for each of its records, and no lease expires'],
  ['I11', 'a job gets the recorded result of a step, in the first execution and in every other'],
  ['I12', 'there is one run per job and idempotency key, and every caller got its id'],
  ['I13', 'a running run has an owner and a lease'],
  ['I14', 'versions, generations and event counters never decrease, and every change of status is in the transition table'],
  ['I15', 'a run that was asked to stop ends, and no other run is cancelled'],
  ['I17', 'the number of recoveries stays within its limit'],
  ['I18', 'acknowledged writes are not lost'],
  ['I20', 'a recorded stream has one chunk, with exactly the output of the attempt that recorded it, and nothing left to reset'],
  [
    'I21',
    'a subscriber of a stream, from any position and however often it is disconnected, sees the output of one attempt: nothing twice, no gap, and after a takeover nothing of the superseded attempt except what a checkpoint kept',
  ],
  ['I22', 'an acknowledged checkpoint is not lost: the next attempt continues from it or from a later one'],
  ['I23', 'a worker that lost the reply to its claim finds every run that the claim took'],
  ['I24', 'no execution starts before its `run_at` on the store’s clock, and `run_at` respects the delay of the trigger'],
  [
    'I25',
    'a sleep, the timeout of a wait and the delay before a step’s next attempt end on time on the store’s clock, whatever else wakes the run',
  ],
  [
    'I26',
    '`waitFor` returns the first accepted signal, and times out only if there was none; with I5: no run waits for ever for a signal that is there',
  ],
  [
    'I27',
    '`attempts` is the number of executions that failed since the last manual retry; there are exactly as many as the policy allows, with its delay between them',
  ],
  ['I28', 'a step is attempted as often as its policy allows, and then its error is thrown into the job'],
  [
    'I29',
    'a step triggers one child, and records that child or its output; below a cancelled run no run starts anything or is retried, and all of them end',
  ],
  [
    'I30',
    'the rows that `ctx.transaction` wrote, and the run it triggered, exist exactly once if its step is recorded, and not at all otherwise',
  ],
  [
    'I31',
    'a function with `effect: ‘once’` is not called twice, unless it is known to have failed or somebody decided that its last start took no effect',
  ],
  [
    'I32',
    'a deadline is exact: it is not extended by sleeps, nothing starts after it, a result that is returned after it does not complete the run, and a lost run whose deadline has passed fails',
  ],
  [
    'I33',
    'only ended runs are deleted, and by a purge only those that ended long enough ago; a child is kept until its parent has completed, was cancelled or was deleted, and a cancelled run until its children have ended',
  ],
  ['I34', 'where workers are tabs of one browser, only the leading tab claims runs, and a stopped tab does not lead'],
  [
    'I35',
    'a tab that got the lead without stealing it reclaims running runs at once; one that stole it, or lost it since, waits for leases to expire',
  ],
  ['I36', 'a leading tab that is awake keeps the lead; one that is suspended for long is replaced if another tab waits'],
]

/** What the worlds came to see, beside steps and streams. */
const FEATURES: [string, (figures: SimFigures) => number][] = [
  ['failed attempts of jobs that were followed by another', ({ retries }) => retries],
  ['failed attempts of steps with a retry policy', ({ tries }) => tries],
  ['runs that timed out', ({ timeouts }) => timeouts],
  ['sleeps', ({ sleeps }) => sleeps],
  ['signals received', ({ signals }) => signals],
  ['waits that timed out', ({ waitsOver }) => waitsOver],
  ['child runs', ({ children }) => children],
  ['effects whose outcome was unknown', ({ doubts }) => doubts],
  ['transactions of the user', ({ transactions }) => transactions],
  ['transactions interrupted at a statement', ({ cuts }) => cuts],
  ['runs purged', ({ purged }) => purged],
  ['terms of leading tabs', ({ terms }) => terms],
  ['terms that were stolen', ({ thefts }) => thefts],
]

export function proofPage({ cores, node, runtimes, simulations, mutants, tortures, outsides }: ProofFigures): string {
  const columns = tortures.flatMap(({ real, controls }): Column[] => [
    { ...real, kind: '' },
    ...controls.map((control) => ({ ...control, kind: ', control' as const })),
  ])
  const outsideColumns = outsides.map(({ real }): Column => ({ ...real, kind: '' }))
  const caught = mutants.filter(({ seed }) => seed !== null).length
  return `# Proof

What we did to break the engine, and what we found. This page is written by \`npm run proof\`; the figures are from its last run: ${cores} cores,
Node ${node}. \`npm test\` runs shorter forms of everything here.

## What is checked

The invariants are pure functions over the rows of the database, the event log and a ledger of what the functions of jobs really did. The
simulator, the torture test and the crash test for your own jobs use the same ones.

| | Invariant |
| --- | --- |
${INVARIANTS.map(([name, text]) => `| ${name} | ${text} |`).join('\n')}

## Simulation

The simulator runs the real engine on a store; time, the connection to the store and crashes are simulated. Each seed determines one world.

- **Workload.** Two to four workers with up to six runs at once execute three to twelve runs. Each world has its own mix of steps and
  streams, sleeps, signals, children, effects, retry policies, timeouts, due times and, on SQL, transactions with rows of the user. Other
  processes send the signals and decide about effects; a client triggers, cancels, retries and purges. They have the same bad connection as
  the workers, and die as the workers do.
- **Faults.** Each world has its own mix of crashes before and after store calls, lost requests, lost replies, calls slower than a lease,
  transactions interrupted at a statement, paused processes, jumps of the database clock, skewed clocks, steps that throw, values that the
  store rejects, cancels, retries, stops and purges. Faults strike shared commits and claims of several runs most often. Then the faults
  stop, and every run must end. Every tenth seed has no fault.
- **Special worlds.** The simulator also covers machines that are suspended, crowds of children over a narrow connection, and processes whose
  wall clock is set. In a fifth of the worlds the workers are tabs of one browser: they share its locks, one leads, and pauses are tabs that
  are frozen or in the background.

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

The seeds follow from a hash of the engine's source: each change of the source meets new worlds, and everybody with the same source
simulates the same ones. \`npm run sim -- --seeds 1000\` runs some, \`npm run sim -- --seed 42\` replays one, byte for byte. A failing seed is
reduced to the fewest faults that still break it, and is added to \`proof/corpus.txt\`, which always runs first.

## Mutants

A test that finds nothing may be blind. So each guard is removed from the engine's source, one at a time, and the simulator must report a
violation within ${MUTANT_SEEDS_MAX} seeds: ${caught} of ${mutants.length} were caught. \`npm run mutants\` repeats it.

| Removed guard | First seed | Violated invariants |
| --- | --- | --- |
${mutants.map(({ mutant, seed, by }) => `| ${mutant.guard} | ${seed ?? 'not caught'} | ${by.join(' ')} |`).join('\n')}

## Real processes

Real worker processes share one database. They are killed with SIGKILL and suspended with SIGSTOP at random, while steps last about as long
as a lease. Every function writes to a ledger outside the database. As a control, the same test runs with an engine whose writes are not
fenced; it must report violations.

On Postgres the server crashes as well (\`pg_ctl restart -m immediate\`), backends are terminated, and all processes connect through a proxy
that cuts connections, delays data, and swallows replies: the connection stays open, the request is executed, and no answer comes. No
worker process may exit by itself.

\`npm run torture -- --seconds 60\` repeats it on SQLite, with \`--store postgres\` on Postgres.

${table(columns)}

## A judge from outside

The same faults hit a second workload, which uses only the public API. Every run has plain steps, a transaction with rows of the user, a
stream with checkpoints, an effect with \`reconcile\`, children, a sleep and a signal, some of them in parallel. Three processes race to
trigger it; others send its signal until it is accepted, and follow it while they are disconnected again and again. The judge knows nothing
about leases. It uses what an outsider can see: public reads, rows, and a ledger of effects that is on disk before an effect counts. Workers
are also stopped with SIGTERM, clocks are wrong and jump (by seconds on SQLite, by hours on Postgres), and some runs have a hundred and fifty
children. \`npm run torture -- --workload outside --faults kill,skew\` repeats a part of it.

${table(outsideColumns)}

Controls: engines with one guard removed, and the checks that failed:

| Removed guard | ${outsides.map(({ real }) => NAMES[real.store]).join(' | ')} |
| --- |${' --- |'.repeat(outsides.length)}
${controlRows(outsides)}

## Runtimes

The packages are packed as they would be published and installed in an empty project, where each runtime runs the program of the README.
\`npm run runtimes\` repeats it; \`npm test\` does it on the Node that runs the tests.

| Runtime | Version | Prints what the README says |
| --- | --- | --- |
${runtimes.map(({ runtime, version, wrong }) => `| ${runtime} | ${version} | ${wrong === '' ? 'yes' : 'NO'} |`).join('\n')}

## What is not covered

No proof covers everything. The following is not tested by any of the above:

- **Postgres is not simulated.** Its statements are tested by the store contract, by random commands compared with a model, by races on two
  connections and by the tests with real processes, but not under the virtual clock with faults at every call.
- **Power cuts and faulty disks.** Processes are killed and a server is crashed, but no machine loses its power. What survives that is what
  SQLite and Postgres promise for their settings ([durability](guarantees.md#durability)).
- **Functions that block the event loop.** A worker that computes for longer than its lease looks like a suspended one, which is tested; but
  the simulator's functions always yield.
- **Running out of memory or disk space**, beyond the tests that fill a disk.
- **Several versions on one database.** Migrations are tested from each version to the next; a half-updated fleet is not.
- **Browsers other than Chromium.** Tabs are simulated with locks as the standard defines them, and tested in Chromium.
- **HTTP.** Server and client have tests, fuzzed inputs and \`npm run accept:fleet\`; they are not part of the simulated worlds.
- **Rows that somebody else writes.** No guarantee holds if somebody changes the tables by hand.
- **Speed.** See \`npm run bench\`.

## How to repeat a figure

| | |
| --- | --- |
| the whole page | \`npm run proof\` (hours on two cores; it prints each part as it ends) |
| the simulated worlds | \`npm run sim -- --seeds 200000\`, \`npm run sim -- --seeds 20000 --store sqlite\`; the range follows from the source and is printed |
| a range of your own | \`npm run sim -- --seeds 10000 --from 123456789\` |
| one world | \`npm run sim -- --seed 42\`, with \`--trace\` for every store call in order |
| the mutants | \`npm run mutants\`, one with \`npm run mutants -- --only no-fence\` |
| real processes | \`npm run torture -- --seconds 60 --store postgres\`, with \`--workload\`, \`--faults\`, \`--control\` for a part of it |
| browsers | \`npm run torture:browser\` |
| the fleet behind HTTP | \`npm run accept:fleet\` |
| the runtimes | \`npm run runtimes\` |
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
    ['runs reclaimed', ({ figures }) => figures.reclaims],
    ['runs released', ({ figures }) => figures.releases],
    ['all runs ended after, s', ({ figures }) => (figures.healMs / 1000).toFixed(1)],
    ['violations', ({ violations }) => violations.length],
  ]
  return lines.map(([name, of]) => row(name, columns, of)).join('\n')
}
