// CrashTest — runs a job once undisturbed, then once for each durable boundary and each fault, and compares.
import type { Decision } from '../../model/effect.ts'
import type { Env } from '../../model/env.ts'
import { DurablyError } from '../../model/errors.ts'
import { checkKeys, type KeysOf } from '../../model/known-keys.ts'
import type { Store } from '../../store/store.ts'
import { worthTrying } from './boundary.ts'
import { CRASH_FAULTS, type CrashFault } from './crash-fault.ts'
import { type CrashCase, type CrashFailure, CrashReport } from './crash-report.ts'
import { CrashWorld, type CrashWorldOptions, type DefineJob, type Evidence, type Target } from './crash-world.ts'
import { completedSteps, isReplayable, judge, type Problem, recordProblems, replayProblems, sameRecords } from './judge.ts'
import { inTime, NeverEnded } from './never-ended.ts'

/** The options of `crashTest`. */
export interface CrashTestOptions {
  /** How long one run of the job may take in real time, in milliseconds, for steps that really wait. Default 5000. */
  timeout?: number
  /** Which faults are tried at each boundary. Default: all. */
  faults?: readonly CrashFault[]
  /** How many different timings of the store are tried. Default 1. */
  seeds?: number
  /** Called before each run of the job, to undo what its steps have changed outside. Default: nothing. */
  beforeEach?: () => unknown
  /** The answer to each `ctx.waitFor(name)` of the job and of its children, sent when a run waits for it. Default: no answer, so a wait times out. */
  signals?: Readonly<Record<string, unknown>>
  /** What to decide about a step with `effect: 'once'`, by its name, when a crash leaves it in doubt. Default: no decision; `reconcile` needs none. */
  decisions?: Readonly<Record<string, Decision>>
  /** Opens the store of each run; it must use this `env` as its clock. Default: the memory store. */
  openStore?: (env: Env) => Store | Promise<Store>
}

const CRASH_TEST_OPTIONS: KeysOf<CrashTestOptions> = {
  timeout: 1,
  faults: 1,
  seeds: 1,
  beforeEach: 1,
  signals: 1,
  decisions: 1,
  openStore: 1,
}

const TIMEOUT_MS = 5000
/** A takeover takes a lease or two; a job that needs time of its own needs it at most three times. */
const PATIENCE_MS = 1_800_000
const EXECUTIONS_MAX = 3

/**
 * Puts a job through a crash, a lost reply, a stolen lease and a cancel at each of its durable boundaries. The job must end as it does
 * undisturbed, with the same output, without running a recorded step again, and with one terminal event.
 *
 * @example const report = await crashTest((durably) => defineSignUp(durably, mail), { email: 'ada@example.com' })
 */
export async function crashTest<TInput>(
  define: DefineJob<TInput>,
  input: NoInfer<TInput>,
  options: CrashTestOptions = {},
): Promise<CrashReport> {
  checkKeys('crashTest', options, CRASH_TEST_OPTIONS)
  const { timeout = TIMEOUT_MS, faults = CRASH_FAULTS, seeds = 1, openStore, signals, decisions } = options
  if (typeof define !== 'function')
    throw new DurablyError('invalid_argument', 'crashTest takes a function that defines the job: (durably) => durably.defineJob(…)')
  const boundaries = new Set<string>()
  const failures: CrashFailure[] = []
  const notReached: CrashCase[] = []
  let jobName = ''
  let cases = 0
  for (let seed = 1; seed <= seeds; seed++) {
    const world = { define: define as DefineJob<unknown>, input, seed, openStore, timeoutMs: timeout, script: { signals, decisions } }
    const trial = new Trial(world, options.beforeEach)
    const undisturbed = await trial.undisturbed()
    jobName = undisturbed.run.jobName
    for (const boundary of worthTrying(undisturbed.boundaries)) {
      boundaries.add(boundary.shown)
      for (const fault of faults) {
        cases++
        const place = { boundary: boundary.shown, fault }
        const problems = await trial.problemsOf({ boundary, fault })
        if (problems === 'not reached') notReached.push(place)
        else failures.push(...problems.map((problem) => ({ ...place, ...problem })))
      }
    }
  }
  return new CrashReport({ jobName, boundaries: [...boundaries], cases, notReached, failures })
}

/** One seed's worlds. */
class Trial {
  readonly #world: CrashWorldOptions
  readonly #beforeEach: CrashTestOptions['beforeEach']
  #undisturbed!: Evidence
  #replayProblems: Problem[] = []

  constructor(world: CrashWorldOptions, beforeEach: CrashTestOptions['beforeEach']) {
    this.#world = world
    this.#beforeEach = beforeEach
  }

  async undisturbed(): Promise<Evidence> {
    const undisturbed = await this.#run({}).catch((error: unknown) => {
      throw error instanceof NeverEnded ? new DurablyError('wait_timeout', `crashTest: undisturbed, ${error.message}`) : error
    })
    const problems = recordProblems(undisturbed)
    if (problems.length > 0)
      throw new Error(`crashTest: something is wrong before anything went wrong: ${problems.map(({ problem }) => problem).join('; ')}`)
    this.#undisturbed = undisturbed
    this.#replayProblems = await this.#replay(undisturbed)
    return undisturbed
  }

  async problemsOf(target: Target): Promise<Problem[] | 'not reached'> {
    try {
      const disturbed = await this.#run({ target, patienceMs: PATIENCE_MS + EXECUTIONS_MAX * this.#undisturbed.tookMs })
      if (!disturbed.faultInjected) return 'not reached'
      return [...judge(this.#undisturbed, disturbed, target), ...(await this.#replayProblemsOf(disturbed, target))]
    } catch (error) {
      if (error instanceof NeverEnded) return [{ problem: error.message, hint: null }]
      throw error
    }
  }

  /** Steps may return something else each time, such as an id or the time. Then the output is compared with what follows from them. */
  async #replayProblemsOf(disturbed: Evidence, { boundary, fault }: Target): Promise<Problem[]> {
    if (sameRecords(this.#undisturbed, disturbed)) return []
    const sameAsReplay = boundary.endsRun && fault === 'crash before'
    return [...(await this.#replay(disturbed)), ...(sameAsReplay ? this.#replayProblems : [])]
  }

  async #replay(original: Evidence): Promise<Problem[]> {
    if (!isReplayable(original)) return []
    return replayProblems(original, await this.#run({ records: completedSteps(original) }))
  }

  async #run(more: Partial<CrashWorldOptions>): Promise<Evidence> {
    await inTime('beforeEach', this.#world, this.#beforeEach?.())
    return new CrashWorld({ ...this.#world, ...more }).run()
  }
}
