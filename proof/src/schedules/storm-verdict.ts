// What a storm must have come to.
import type { LeaderStorm, StormOptions } from './leader-storm.ts'

/** What is wrong; nothing if it is empty. */
export function faultsOf(storm: LeaderStorm, { pauses, kills }: Pick<StormOptions, 'pauses' | 'kills'>): string[] {
  const { all, once, deposed, unreported, changes, troubles, doubled, unfinished } = storm
  const [first = 0] = all
  const gaps = once.filter((second, i) => i > 0 && second - (once[i - 1] ?? 0) > 1).length
  const checks: [isWrong: boolean, what: string][] = [
    [all.some((second, i) => second !== first + i), 'misfire all: a second is missing or was used twice'],
    [all.length <= pauses * 11, `misfire all: only ${all.length} seconds were used`],
    [new Set(once).size !== once.length, 'misfire once: a second was used twice'],
    [gaps > pauses * (kills ? 3 : 2), `misfire once: ${gaps} gaps`],
    [changes < 1 || deposed < 1, 'no suspended leader was replaced'],
    [unreported > 0, `${unreported} suspended leaders did not report that they were refused`],
  ]
  return [
    ...checks.flatMap(([isWrong, what]) => (isWrong ? what : [])),
    ...troubles.map((trouble) => `trouble: ${trouble}`),
    ...doubled.map((run) => `executed twice at once: ${run}`),
    ...unfinished.map((run) => `not completed: ${run}`),
  ]
}
