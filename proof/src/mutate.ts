// `npm run mutants`: shows for each guard of the engine at which seed the simulator notices that it is gone.
import { parseArgs } from 'node:util'
import { huntMutants } from './mutant-hunt.ts'
import { MUTANTS } from './mutants/index.ts'
import { freshRange } from './seed-range.ts'

const SAMPLE_SHARE = 3

const HELP = `Takes one guard after the other out of the engine's source; the simulator must notice each within 2,000 seeds, a few of them
in a world that a rare coincidence needs and that is recorded in proof/first-seeds.json.

  npm run mutants                     all of them
  npm run mutants -- --only no-fence  one of them, or several: no-fence,no-reap
  npm run mutants -- --known          first the seed of proof/first-seeds.json, which is written without this option
  npm run mutants -- --sample         a third of them: which one follows from the engine's source, as the seeds of npm run sim do`

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    known: { type: 'boolean', default: false },
    sample: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) {
  console.log(HELP)
  process.exit()
}

const results = await huntMutants(
  ({ mutant, seed, by }) => {
    console.log(`${mutant.name.padEnd(26)} ${seed === null ? 'NOT CAUGHT' : `seed ${String(seed).padStart(4)}  ${by.join(' ')}`}`)
  },
  { only: values.sample ? sampled() : values.only?.split(','), fromKnownSeeds: values.known },
)
const missed = results.filter(({ seed }) => seed === null)
console.log(`${results.length - missed.length} of ${results.length} mutants caught`)
if (missed.length > 0) process.exitCode = 1

function sampled(): string[] {
  const { from } = freshRange('memory', 0)
  return MUTANTS.filter((_, i) => (from / 1000 + i) % SAMPLE_SHARE === 0).map(({ name }) => name)
}
