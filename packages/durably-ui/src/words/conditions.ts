// Which runs are meant, in words, so that somebody can check it before all of them are changed.
import type { RunConditions } from '@coji/durably/client'

export function conditionsInWords(conditions: RunConditions): string[] {
  const { phase, jobName, createdAfter, labels, concurrencyKey, idempotencyKey, parentRunId, scheduleId } = conditions
  const either = (values: string | readonly string[]) => [values].flat().join(' or ')
  return [
    ...(phase ? [`in phase ${either(phase)}`] : []),
    ...(jobName ? [`of job ${either(jobName)}`] : []),
    ...(createdAfter instanceof Date ? [`triggered after ${createdAfter.toISOString()}`] : []),
    ...Object.entries(labels ?? {}).map(([name, value]) => `with label ${name}=${value}`),
    ...(concurrencyKey ? [`with concurrency key ${concurrencyKey}`] : []),
    ...(idempotencyKey ? [`with idempotency key ${idempotencyKey}`] : []),
    ...(parentRunId ? [`triggered by run ${parentRunId}`] : []),
    ...(scheduleId ? [`of schedule ${scheduleId}`] : []),
  ]
}
