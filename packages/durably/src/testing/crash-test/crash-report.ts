import { type CrashFault, inWords } from './crash-fault.ts'

export interface CrashCase {
  /** Such as `claim`, `step "fetch"` or `complete`. */
  boundary: string
  fault: CrashFault
}

export interface CrashFailure extends CrashCase {
  problem: string
  /** What the author of the job can do about it. */
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

/** How a job ended in every world in which it ran. */
export class CrashReport {
  readonly jobName: string
  /** The store calls that make something durable, in the order of the undisturbed run. */
  readonly boundaries: readonly string[]
  /** How many worlds there were: boundaries times faults, for each seed. */
  readonly cases: number
  /** Cases in which the boundary did not come up: what the job does depends on what its steps return. */
  readonly notReached: readonly CrashCase[]
  readonly failures: readonly CrashFailure[]

  constructor({ jobName, boundaries, cases, notReached, failures }: CrashReportParts) {
    this.jobName = jobName
    this.boundaries = boundaries
    this.cases = cases
    this.notReached = notReached
    this.failures = failures
  }

  get ok(): boolean {
    return this.failures.length === 0
  }

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
