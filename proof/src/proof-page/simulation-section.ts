import type { SimFigures } from '../../../packages/durably/dist/testing/simulator/judge.js'

export interface Simulation extends SimFigures {
  store: string
  /** The first of its fresh seeds, and how many of them there are. */
  from: number
  fresh: number
  /** With those of the corpus. */
  seeds: number
  worlds: number
  seconds: number
  faults: number
  /** The seeds with violations. */
  broken: number[]
}

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
  ['runs of schedules', ({ scheduled }) => scheduled],
  ['changes of the elected process', ({ elections }) => elections],
  ['firings of a process that led no more, refused', ({ refusals }) => refusals],
  ['events delivered', ({ events }) => events],
  ['deliveries of a process that led no more, refused', ({ eventRefusals }) => eventRefusals],
  ['silent workers that were waited for', ({ silences }) => silences],
  ['those of them that came back in time', ({ returns }) => returns],
  ['runs that a leader gave a worker', ({ assigned }) => assigned],
  ['those that it took away again', ({ orphaned }) => orphaned],
  ['assignments of a process that led no more, refused', ({ deposed }) => deposed],
  ['histories that were moved to files', ({ archived }) => archived],
  ['commands whose actor was recorded', ({ recorded }) => recorded],
]

export function simulationSection(simulations: readonly Simulation[]): string {
  return `## Simulation

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
  are frozen or in the background. On SQL, in half of the worlds, runs that a process triggers at the same moment arrive
  together and share a commit.
- **How large worlds are.** Measured by what they find: the same 180 to 240 seeds for each of 16 mutants. With a third or a half of the runs a world costs less
  and finds less in the same proportion, 0.60 finds for each second of processor time in all three sizes; with twice as many runs it is 0.48, with
  workers that look for work less often 0.54. So the size was left, and more worlds a second would not be more proof.
- **Fleets.** Beside a tenth of the worlds there is another one, with a workload and faults of its own, whose workers are a fleet. Some may come back
  after their lease (\`confirmFor\`). Most are in the register, with labels; a leader chooses their runs, or they claim, or both are mixed, and an
  operator drains, detaches and attaches them. Workers are cut off from the store for up to five leases. In a third of these worlds old
  histories are moved to files, over a connection that is as bad as that to the store. Everybody who gives a command in them says who it is. All
  other invariants hold for them, too.

| Store | Seeds | which | Worlds | Seconds | Runs | Step executions | of them streams | Commits | shared | Claims | of several | Faults | Deaths | Simulated hours | Seeds with violations |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
${simulations
  .map(
    (s) =>
      `| ${s.store} | ${s.seeds} | the corpus, ${s.from} to ${s.from + s.fresh - 1} | ${s.worlds} | ${s.seconds} | ${s.runs} | ${s.executions} | ${s.streams} | ${s.commits} | ${s.groups} | ${s.claims} | ${s.batches} | ${s.faults} | ${s.kills} | ${Math.round(s.simulatedMs / 3_600_000)} | ${s.broken.length} |`,
  )
  .join('\n')}

| Seen | ${simulations.map(({ store }) => store).join(' | ')} |
| --- |${' --- |'.repeat(simulations.length)}
${FEATURES.map(([name, of]) => `| ${name} | ${simulations.map(of).join(' | ')} |`).join('\n')}

The seeds follow from a hash of the engine's source: each change of the source meets new worlds, and everybody with the same source
simulates the same ones. \`npm run sim -- --seeds 1000\` runs some, \`npm run sim -- --seed 42\` replays one, byte for byte. A failing seed is
reduced to the fewest faults that still break it, and is added to \`proof/corpus.txt\`, which always runs first.`
}
