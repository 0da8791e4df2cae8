// The form in which a caller sees a run, its steps and its events, and a schedule: keys as the caller gave them, and failures without stacks and causes. Those disclose
// files, addresses and queries of the server, so they are sent only if `exposeFailures` allows it.
import type { RunLogEvent } from '../model/event.ts'
import type { Failure } from '../model/failure.ts'
import type { Run } from '../model/run.ts'
import type { Schedule } from '../model/schedule.ts'
import type { Step } from '../model/step.ts'
import type { Call } from './call.ts'
import { givenKey, principalOf } from './principal.ts'

export interface Shown {
  run(run: Run): Run
  step(step: Step): Step
  event(event: RunLogEvent): RunLogEvent
  schedule(schedule: Schedule): Schedule
}

export async function shownTo(call: Pick<Call, 'server' | 'request'>): Promise<Shown> {
  const principal = await principalOf(call)
  const isExposed = (await call.server.config.exposeFailures(call.request)) === true
  const shown = <F extends Failure | null>(failure: F) => (isExposed ? failure : withoutStack(failure))
  return {
    run: (run) => ({
      ...run,
      idempotencyKey: givenKey(principal, run.idempotencyKey),
      concurrencyKey: givenKey(principal, run.concurrencyKey),
      failure: shown(run.failure),
    }),
    step: (step) => ({ ...step, failure: shown(step.failure) }),
    event: (event) => ('failure' in event ? { ...event, failure: shown(event.failure) } : event),
    schedule: (schedule) => ({ ...schedule, concurrencyKey: givenKey(principal, schedule.concurrencyKey) }),
  }
}

function withoutStack<F extends Failure | null>(failure: F): F {
  if (!failure) return failure
  const { name, message, code } = failure
  return { name, message, ...(code !== undefined && { code }) } as F
}
