// TroubleLog — writes one line for each trouble of an instance, for people. No payload, output or stack is in a line.
//   T1. The same trouble is one line: what comes again within QUIET_MS is left out, like the errors of a database that is away.
//   T2. A step that failed and took its run with it is one line, that of the run. So the line of a step waits until its run goes on.
import type { Unsubscribe } from '../events/emitter.ts'
import type { DurablyEvent, EventOf } from '../model/event.ts'
import { type Failure, failureOf } from '../model/failure.ts'
import { LruMap } from '../model/lru-map.ts'
import { tell } from '../model/tell.ts'
import { CONSOLE } from './console-logger.ts'
import type { TroubleLogDeps } from './lazy-trouble-log.ts'
import type { DurablyLogger } from './logger.ts'

const QUIET_MS = 60_000
/** How many troubles are remembered, so that they are not logged again. */
const KNOWN_MAX = 1000
/** A longer message is cut. The whole error is in `getRun(id).failure` and in the events. */
const MESSAGE_CHARS_MAX = 300

const GOES_ON = ['step:start', 'run:complete', 'run:cancel', 'run:wait', 'run:release'] as const

export class TroubleLog {
  readonly #deps: TroubleLogDeps
  readonly #logger: DurablyLogger
  /** When each line was last due, by its text. */
  readonly #known = new LruMap<string, number>(KNOWN_MAX)
  /** The failures of steps that are not tried again, by run, until it is known what becomes of the run. */
  readonly #failedSteps = new Map<string, EventOf<'step:fail'>>()
  #watching: Unsubscribe[] = []

  constructor(deps: TroubleLogDeps) {
    this.#deps = deps
    this.#logger = deps.logger ?? CONSOLE
  }

  /** `thrown`: what a listener of the event threw. */
  write(event: DurablyEvent, thrown?: { error: unknown }): void {
    if (thrown)
      return this.#once('warn', `a listener of ${event.type} threw ${inWords(failureOf(thrown.error))}; durably.onError gets such errors`)
    switch (event.type) {
      case 'run:fail':
        return this.#runFailed(event)
      case 'run:retry':
        this.#forget(event.runId)
        if (event.error !== undefined)
          this.#log(
            'debug',
            `attempt ${event.attempt} of ${runOf(event)} failed: ${oneLine(event.error)}; the next one is due at ${event.runAt}`,
          )
        return
      case 'run:reclaim':
        return this.#log('warn', `${runOf(event)} lost its worker and is taken over; its recorded steps do not run again`)
      case 'step:fail':
        return this.#stepFailed(event)
      case 'worker:error':
        return this.#workerFailed(event)
    }
  }

  #runFailed(event: EventOf<'run:fail'>): void {
    const { runId, failedStepName, failure } = event
    if (this.#failedSteps.get(runId)?.stepName === failedStepName) this.#forget(runId)
    else this.#goesOn(runId)
    const where = failedStepName === '' ? '' : ` in step ${JSON.stringify(failedStepName)}`
    this.#log('error', `${runOf(event)} failed${where}: ${inWords(failure)}`)
  }

  #stepFailed(event: EventOf<'step:fail'>): void {
    const { runId, stepName, failure, willRetry } = event
    if (willRetry)
      return this.#log('debug', `step ${JSON.stringify(stepName)} of ${runOf(event)} failed and is tried again: ${inWords(failure)}`)
    this.#goesOn(runId)
    this.#failedSteps.set(runId, event)
    if (this.#watching.length === 0) this.#watching = GOES_ON.map((type) => this.#deps.emitter.on(type, ({ runId }) => this.#goesOn(runId)))
  }

  #workerFailed({ cause, error, runId }: EventOf<'worker:error'>): void {
    if (runId !== null) this.#goesOn(runId)
    const failure = failureOf(cause)
    // The instance was ended on purpose.
    if (failure.code === 'store_closed') return
    this.#once(failure.code === 'lease_lost' ? 'warn' : 'error', failure.name === 'DurablyError' ? oneLine(error) : inWords(failure))
  }

  /** The run did not fail by the failure of its step, so that gets a line of its own. */
  #goesOn(runId: string): void {
    const failed = this.#failedSteps.get(runId)
    if (!failed) return
    this.#forget(runId)
    this.#log('warn', `step ${JSON.stringify(failed.stepName)} of ${runOf(failed)} failed: ${inWords(failed.failure)}`)
  }

  #forget(runId: string): void {
    this.#failedSteps.delete(runId)
    if (this.#failedSteps.size > 0) return
    for (const stop of this.#watching.splice(0)) stop()
  }

  /** T1. */
  #once(level: 'warn' | 'error', line: string): void {
    const now = this.#deps.env.mono()
    const seen = this.#known.get(line)
    this.#known.set(line, now)
    if (seen === undefined || now - seen > QUIET_MS) this.#log(level, line)
  }

  #log(level: keyof DurablyLogger, line: string): void {
    tell(() => this.#logger[level](`durably: ${line}`))
  }
}

function runOf({ runId, jobName }: { runId: string; jobName: string }): string {
  return `run ${runId} of job ${JSON.stringify(jobName)}`
}

function inWords({ name, message, code, cause }: Failure): string {
  const because = cause ? ` (cause: ${cause.name}: ${oneLine(cause.message)})` : ''
  return `${name}: ${oneLine(message)}${code === undefined ? '' : ` [${code}]`}${because}`
}

function oneLine(message: string): string {
  const line = message.replaceAll(/\s+/g, ' ').trim()
  return line.length > MESSAGE_CHARS_MAX ? `${line.slice(0, MESSAGE_CHARS_MAX - 1)}…` : line
}
