// Which guards were removed, and what noticed it.
import { type Hunted, MUTANT_SEEDS_MAX } from '../mutant-hunt.ts'

export interface HuntedGuard extends Omit<Hunted, 'mutant'> {
  guard: string
}

export function mutantsSection(mutants: readonly HuntedGuard[]): string {
  const caught = mutants.filter(({ seed }) => seed !== null).length
  return `## Mutants

A test that finds nothing may be blind. So each guard is removed from the engine's source, one at a time, and the simulator must report a
violation within ${MUTANT_SEEDS_MAX} seeds, or in a world that once showed why the guard is there: ${caught} of ${mutants.length} were caught. \`npm run mutants\` repeats it.

| Removed guard | First seed | Violated invariants |
| --- | --- | --- |
${mutants.map(({ guard, seed, by }) => `| ${guard} | ${seed ?? 'not caught'} | ${by.join(' ')} |`).join('\n')}`
}
