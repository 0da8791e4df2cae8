// Matchers for a test runner with `expect.extend`; it is not imported here.
import { CrashReport } from './crash-report.ts'
import { type CrashTestOptions, crashTest } from './crash-test.ts'
import type { DefineJob } from './crash-world.ts'

interface MatcherResult {
  pass: boolean
  message: () => string
}

/** The matchers as the types of a test runner declare them. */
export interface CrashMatchers {
  /**
   * Passes if the job survived every case. Takes a report of `crashTest`, or a function that defines a job, which is then given to
   * `crashTest` with this input.
   */
  toSurviveCrashes(input?: unknown, options?: CrashTestOptions): Promise<void>
}

/**
 * A matcher for test runners with `expect.extend`, such as Vitest and Jest.
 *
 * @example expect.extend(crashMatchers)
 */
export const crashMatchers = {
  /** Passes if the job survived every case; see `CrashMatchers`. */
  toSurviveCrashes(received: unknown, input?: unknown, options?: CrashTestOptions): MatcherResult | Promise<MatcherResult> {
    return received instanceof CrashReport ? verdict(received) : crashTest(received as DefineJob<unknown>, input, options).then(verdict)
  },
}

function verdict(report: CrashReport): MatcherResult {
  return { pass: report.ok, message: () => String(report) }
}
