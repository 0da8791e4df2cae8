export const NOT_COVERED = `## What is not covered

No proof covers everything. The following is not tested by any of the above:

- **Postgres is not simulated.** Its statements are tested by the store contract, by random commands compared with a model, by races on two
  connections and by the tests with real processes, but not under the virtual clock with faults at every call.
- **Fleets on Postgres, and of real processes.** \`confirmFor\`, the register of workers, \`dispatch: 'leader'\`, preferred workers and the archive are simulated in
  memory and on SQLite; on Postgres the store contract tests what they write. Real processes that a leader assigns runs to are killed and suspended, with leases
  that are longer than a pause; \`confirmFor\` is not in use there. The archive is killed at nine points in real processes.
- **Files that a dead process leaves behind.** A worker that writes a file of a run which was deleted just then, and is killed before it can remove it
  again, leaves it. Such files are not counted as violations.
- **Power cuts and faulty disks.** Processes are killed and a server is crashed, but no machine loses its power. What survives that is what
  SQLite and Postgres promise for their settings ([durability](guarantees.md#durability)).
- **Functions that block the event loop.** A worker that computes for longer than its lease looks like a suspended one, which is tested; but
  the simulator's functions always yield.
- **Running out of memory or disk space**, beyond the tests that fill a disk.
- **Several versions on one database.** Migrations are tested from each version to the next; a half-updated fleet is not.
- **Browsers other than Chromium.** Tabs are simulated with locks as the standard defines them, and tested in Chromium.
- **HTTP.** Server and client have tests, fuzzed inputs and \`npm run accept:fleet\`; they are not part of the simulated worlds.
- **Rows that somebody else writes.** No guarantee holds if somebody changes the tables by hand.
- **Explanations at every moment.** \`explain()\` is checked at three moments while there are faults, and every ten seconds afterwards, not after
  each change.
- **One guard of heartbeats.** That another beat is under way when a lease is over, after one that was answered late: a world showed that it was missing, but
  no world of today does. An engine test has it.
- **One guard of tabs.** That a tab which was frozen for less than half a lease looks twice before it steals the lead: no world has a leader that wakes in just that time.
  An engine test has it.
- **Worlds of the corpus that have changed.** A seed makes another world when the simulator learns something new, so an old line of the corpus may not
  show its cause any more. Where the cause has a mutant, \`npm run mutants\` tells; of the others nobody has tried them all again.
- **Speed.** See \`npm run bench\`.`

export const HOW_TO_REPEAT = `## How to repeat a figure

| | |
| --- | --- |
| the whole page | \`npm run proof\` (hours on two cores, on Node 24 from npm); after an interruption \`npm run proof -- --resume\` |
| one part of it | \`npm run proof -- --only mutants\`; \`--help\` names the parts |
| the simulated worlds | \`npm run sim -- --seeds 200000\`, \`npm run sim -- --seeds 20000 --store sqlite\`; the range follows from the source and is printed |
| a range of your own | \`npm run sim -- --seeds 10000 --from 123456789\` |
| one world | \`npm run sim -- --seed 42\`, with \`--trace\` for every store call in order |
| the mutants | \`npm run mutants\`, one with \`npm run mutants -- --only no-fence\` |
| real processes | \`npm run torture -- --seconds 60 --store postgres\`, with \`--workload\`, \`--faults\`, \`--control\` for a part of it |
| a leader that is cut off | \`npm run storm\`, with \`--pauses\`, \`--workers\` and \`--store\` for a part of it |
| browsers | \`npm run torture:browser\` |
| the fleet behind HTTP | \`npm run accept:fleet\` |
| the runtimes | \`npm run runtimes\` |`
