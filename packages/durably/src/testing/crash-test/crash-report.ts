import { type CrashFault, inWords } from './crash-fault.ts'

/** One case of a crash test: a fault at a boundary. */
export interface CrashCase {
  /** The write at which the fault happens, such as `claim`, `step "fetch"` or `complete`. */
  boundary: string
  /** What goes wrong there. */
  fault: CrashFault
}

/** A case in which the job did not behave as it does undisturbed. */
export interface CrashFailure extends CrashCase {
  /** What was different, in words. */
  problem: string
  /** What the author of the job can do about it; null if nothing is known. */
  hint: string | null
}

/** A job that fails in every case fails in the same way, so a few cases are enough. */
const PROBLEMS_SHOWN_MAX = 12

interface CrashReportParts {
  jobName: string
  boundaries: readonly string[]
  cases: number
  notReached: readonly CrashCase[]
  failures: readonly CrashFailure[]
}

/** What `crashTest` found out. Its text, `String(report)`, is for people. */
export class CrashReport {
  /** The name of the job. */
  readonly jobName: string
  /** The writes at which faults were tried, in the order of the undisturbed run. */
  readonly boundaries: readonly string[]
  /** How many cases were tried: boundaries times faults, for each seed. */
  readonly cases: number
  /** Cases in which the boundary did not come up, because what the job does depends on what its steps return. */
  readonly notReached: readonly CrashCase[]
  /** The cases in which the job did not behave as it does undisturbed. */
  readonly failures: readonly CrashFailure[]

  constructor({ jobName, boundaries, cases, notReached, failures }: CrashReportParts) {
    this.jobName = jobName
    this.boundaries = boundaries
    this.cases = cases
    this.notReached = notReached
    this.failures = failures
  }

  /** Whether there are no failures. */
  get ok(): boolean {
    return this.failures.length === 0
  }

  /** The report in a few lines for people. */
  toString(): string {
    const failed = new Set(this.failures.map(({ fault, boundary }) => inWords(fault, boundary))).size
    const verdict = this.ok ? `survives all ${this.cases} cases` : `fails in ${failed} of ${this.cases} cases`
    const lines = [`job ${JSON.stringify(this.jobName)} ${verdict} (boundaries: ${this.boundaries.join(', ')})`]
    const problems = [...this.#placesByProblem()].map(([problem, places]) => `${places.join(', ')}: ${problem}`)
    lines.push(...problems.slice(0, PROBLEMS_SHOWN_MAX))
    if (problems.length > PROBLEMS_SHOWN_MAX) lines.push(`… and ${problems.length - PROBLEMS_SHOWN_MAX} more`)
    lines.push(...new Set(this.failures.flatMap(({ hint }) => hint ?? [])))
    if (this.notReached.length > 0) lines.push(`not reached: ${this.notReached.map(where).join(', ')}`)
    return lines.join('\n  ')
  }

  #placesByProblem(): Map<string, string[]> {
    const places = new Map<string, string[]>()
    for (const failure of this.failures) places.set(failure.problem, [...(places.get(failure.problem) ?? []), where(failure)])
    return places
  }
}

function where({ fault, boundary }: CrashCase): string {
  return inWords(fault, boundary)
}
