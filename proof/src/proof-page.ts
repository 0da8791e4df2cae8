// docs/proof.md, from the figures that `npm run proof` has kept.

import type { RanOn } from './packed/runtimes.ts'
import type { KeptFigures, PartName } from './proof-figures.ts'
import { PARTS } from './proof-figures.ts'
import { HOW_TO_REPEAT, NOT_COVERED } from './proof-page/closing-sections.ts'
import { mutantsSection } from './proof-page/mutants-section.ts'
import { outsideSection, processSection } from './proof-page/process-sections.ts'
import { simulationSection } from './proof-page/simulation-section.ts'
import { stormSection } from './proof-page/storm-section.ts'

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
    'a step triggers one child, only while its run is running, and records that child or its output; a cancel reaches all runs below at once, no run below a cancelled one starts anything or is retried, and all of them end',
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
    'a tab that got the lead without stealing it reclaims running runs at once; one that stole it, or lost it since, waits for leases to expire, and nobody takes back the lease of another tab that may still execute',
  ],
  ['I36', 'a leading tab that is awake keeps the lead; one that is suspended for long is replaced if another tab waits'],
  ['I37', 'a run has the labels that it was given, or those of the run that triggered it, and is found by them; no other run is'],
  ['I39', '`explain()` has an explanation for every unfinished run, and doing what it says makes the run due'],
  ['I40', 'a time of a schedule gets at most one run, also after that run was deleted and the clock was set back'],
  ['I41', 'a firing takes effect only with the epoch of the leader, the version that the schedule has, and a time that has come'],
  ['I42', 'no epoch decreases, and each change of the leader has a higher one; the last used time of a schedule never goes back'],
  ['I43', 'with misfire all no time is left out; with any policy, what is due does not stay due'],
  ['I50', 'an event gets at most one run of a job, also after that run was deleted, and only of jobs whose subscription matches'],
  ['I51', 'a delivery takes effect only with the epoch of the leader'],
  ['I52', 'a job whose subscription was stored before an event has a run of it; of the events with one dedupe key, one is stored'],
  ['I53', 'each event that was stored is delivered in the end'],
  [
    'I60',
    'a run whose worker is silent is marked once, when its lease is over, until its lease and `confirmFor` are over; nobody takes it from its owner before that',
  ],
  ['I61', 'the mark of a silent worker goes with the next accepted write of the owner, and with the end of the lease'],
  [
    'I62',
    'an owner that the store does not answer gives up its run after its lease and `confirmFor` by its own clocks: not earlier, and not later unless it was paused',
  ],
  [
    'I63',
    'a run gets a worker only from the process that leads, while it is pending, has the version that this process has read and no worker; the worker is attached and not silent',
  ],
  ['I64', 'the epoch and the count of assignments of a run never decrease, and each assignment counts'],
  ['I65', 'a run loses its worker only some time after it was assigned, and only if the worker is detached, silent or gone'],
  ['I66', 'a worker whose runs are chosen starts only those that are assigned to it'],
  ['I67', 'a worker that knows that it is detached starts nothing, and one that drains takes only what was chosen for it'],
  ['I68', 'the end of a run is accepted only with the epoch that its row has'],
  [
    'I69',
    'only histories of runs that ended long enough ago are moved to files, and rows and files together are always what was recorded; in the end deleted runs have no files',
  ],
  ['I70', 'from the first claim of a run with `holdKey` until it ends, no other run of its concurrency key is claimed'],
  ['I71', 'a run that prefers a worker which is there is left to it for `preferFor`, and no later run of its key overtakes it'],
  ['I72', 'no run is left to a worker that is gone, or for longer than `preferFor`'],
  [
    'I73',
    'a command that was accepted has one entry of the audit, also if its answer was lost and it was given again; one that was refused has none',
  ],
  ['I74', 'no promise is rejected that nobody listens to, which would end the process'],
]

export function proofPage(kept: KeptFigures): string {
  const { memory, sqlite, mutants, torture, outside, storm, runtimes } = kept
  const simulations = [memory, sqlite].flatMap((part) => part?.found ?? [])
  const sections = [
    introduction(kept),
    simulationSection(simulations),
    mutants && mutantsSection(mutants.found),
    torture && processSection(torture.found),
    outside && outsideSection(outside.found),
    storm && stormSection(storm.found),
    runtimes && runtimesSection(runtimes.found),
    NOT_COVERED,
    HOW_TO_REPEAT,
  ]
  return `${sections.filter((section) => section !== undefined).join('\n\n')}\n`
}

const PART_TITLES: Record<PartName, string> = {
  memory: 'simulation in memory',
  sqlite: 'simulation on SQLite',
  mutants: 'mutants',
  torture: 'real processes',
  outside: 'a judge from outside',
  storm: 'a leader that is cut off',
  runtimes: 'runtimes',
}

function introduction(kept: KeptFigures): string {
  return `# Proof

What we did to break the engine, and what we found. This page is written by \`npm run proof\`, from the figures of the last run of each part.
\`npm test\` runs shorter forms of everything here.

| Part | Engine | Cores | Node |
| --- | --- | --- | --- |
${PARTS.map((part) => partRow(part, kept)).join('\n')}

The engine is named by the first seed that follows from its source: \`npm run sim -- --seeds 1\` prints that of yours. A part with another number was
run before the engine changed.

## What is checked

The invariants are pure functions over the rows of the database, the event log and a ledger of what the functions of jobs really did. The
simulator, the torture test and the crash test for your own jobs use the same ones.

| | Invariant |
| --- | --- |
${INVARIANTS.map(([name, text]) => `| ${name} | ${text} |`).join('\n')}`
}

function partRow(part: PartName, kept: KeptFigures): string {
  const figures = kept[part]
  if (!figures) return `| ${PART_TITLES[part]} | not run yet | | |`
  return `| ${PART_TITLES[part]} | ${figures.source} | ${figures.cores} | ${figures.node} |`
}

function runtimesSection(runtimes: readonly RanOn[]): string {
  return `## Runtimes

The packages are packed as they would be published and installed in an empty project, where each runtime runs the program of the README.
\`npm run runtimes\` repeats it; \`npm test\` does it on the Node that runs the tests.

| Runtime | Version | Prints what the README says |
| --- | --- | --- |
${runtimes.map(({ runtime, version, wrong }) => `| ${runtime} | ${version} | ${wrong === '' ? 'yes' : 'NO'} |`).join('\n')}`
}
