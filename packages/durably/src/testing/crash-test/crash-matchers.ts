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
  /** Of a report, or of a function that defines a job and is given to `crashTest` with this input. */
  toSurviveCrashes(input?: unknown, options?: CrashTestOptions): Promise<void>
}

/** @example expect.extend(crashMatchers) */
export const crashMatchers = {
  toSurviveCrashes(received: unknown, input?: unknown, options?: CrashTestOptions): MatcherResult | Promise<MatcherResult> {
    return received instanceof CrashReport ? verdict(received) : crashTest(received as DefineJob<unknown>, input, options).then(verdict)
  },
}

function verdict(report: CrashReport): MatcherResult {
  return { pass: report.ok, message: () => String(report) }
}
