// Controls: engines with one guard taken out. A torture that they survive proves nothing.
import { buildMutant } from '../mutant-build.ts'
import { MUTANTS } from '../mutants/index.ts'
import type { Mutant } from '../mutants/mutant.ts'
import type { FaultName } from './faults.ts'
import { UNFENCED } from './races.ts'
import type { PauseLeases } from './storm.ts'
import { type Tortured, type TortureOptions, torture } from './torture.ts'

export interface Control {
  mutant: Mutant
  /** Those that show it soonest; all that the workload is made for, unless given. */
  faults?: readonly FaultName[]
  pauseLeases?: PauseLeases
}

export interface TorturedControl extends Tortured {
  mutant: Mutant
}

const SIGNAL_KEY_IGNORED: Mutant = {
  name: 'signal-key-ignored',
  guard: 'a signal that is sent again with its key is the same one',
  file: 'runs/run-commands.ts',
  find: 'await this.#send(runId, name, value, entry, key)',
  replace: 'await this.#send(runId, name, value, entry, key && undefined)',
}

/**
 * The owner sleeps past the end of its lease and goes on while the next one has the run. Faults of the database would only slow down
 * who takes it over.
 */
const ZOMBIES: Omit<Control, 'mutant'> = { faults: ['freeze'], pauseLeases: [1.1, 1.8] }
const KILLS: readonly FaultName[] = ['kill']

/** The first is the one that every torture takes. */
const CONTROLS: Record<TortureOptions['workload'], readonly [Control, ...Control[]]> = {
  inside: [{ mutant: UNFENCED }],
  outside: [
    { mutant: UNFENCED, ...ZOMBIES },
    { mutant: named('recorded-runs-again'), faults: KILLS },
    { mutant: SIGNAL_KEY_IGNORED, faults: KILLS },
    { mutant: named('sleep-cut-short'), faults: KILLS },
    { mutant: named('child-of-each-lease'), faults: KILLS },
    { mutant: named('effect-asks-nobody'), faults: KILLS },
    { mutant: named('kept-not-read'), faults: KILLS },
  ],
}

export function controlsOf(workload: TortureOptions['workload']): readonly [Control, ...Control[]] {
  return CONTROLS[workload]
}

/** One of them, or any mutant. */
export function controlNamed(workload: TortureOptions['workload'], name: string): Control {
  return CONTROLS[workload].find(({ mutant }) => mutant.name === name) ?? { mutant: named(name) }
}

/** The torture ends as soon as the mutant is caught. */
export async function tortureControl(
  { mutant, faults, pauseLeases }: Control,
  options: Omit<TortureOptions, 'dist' | 'untilCaught'>,
): Promise<TorturedControl> {
  const { dist, remove } = await buildMutant(mutant)
  process.once('exit', remove)
  try {
    const { violations, ...rest } = await torture({ ...(faults && { faults }), ...options, dist, untilCaught: true, pauseLeases })
    // An error that a worker reports is not caused by the missing guard.
    return { ...rest, mutant, violations: violations.filter(({ invariant }) => invariant !== 'process') }
  } finally {
    remove()
    process.off('exit', remove)
  }
}

function named(name: string): Mutant {
  const found = MUTANTS.find((mutant) => mutant.name === name)
  if (!found) throw new Error(`there is no mutant ${JSON.stringify(name)}`)
  return found
}
