import type { Command } from '../command.ts'
import { CONDITIONS } from '../conditions.ts'
import { actOnRuns, MANY_OPTIONS } from '../many-runs.ts'

export const retry: Command = {
  name: 'retry',
  summary: 'let failed runs continue after their last recorded step',
  args: [{ name: 'id', what: 'the ids of the runs; without one, the options say which', optional: true, many: true }],
  options: { ...CONDITIONS, ...MANY_OPTIONS },
  examples: [
    'durably retry 01JCZX3P0V6S6V7M3YB8Q8Y3GT',
    'durably retry --job import --since 1d          # says how many',
    'durably retry --job import --since 1d --yes',
  ],
  run: (given, io) =>
    actOnRuns(given, io, {
      verb: 'retry',
      done: 'retried',
      statuses: ['failed'],
      one: async (durably, id, as) => void (await durably.retry(id, as)),
      many: (durably, filter, options) => durably.retryRuns(filter, options),
    }),
}
