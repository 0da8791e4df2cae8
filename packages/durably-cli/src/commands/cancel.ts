import type { Command } from '../command.ts'
import { CONDITIONS } from '../conditions.ts'
import { CliError } from '../exit-code.ts'
import { actOnRuns, MANY_OPTIONS } from '../many-runs.ts'

export const cancel: Command = {
  name: 'cancel',
  summary: 'cancel runs, and the unfinished runs that they have triggered',
  about: 'A run that executes is asked to stop, and ends as cancelled when its function has settled.',
  args: [{ name: 'id', what: 'the ids of the runs; without one, the options say which', optional: true, many: true }],
  options: { ...CONDITIONS, ...MANY_OPTIONS },
  examples: ['durably cancel 01JCZX3P0V6S6V7M3YB8Q8Y3GT', 'durably cancel --job import --phase pending --yes'],
  run: (given, io) =>
    actOnRuns(given, io, {
      verb: 'cancel',
      done: 'cancelled',
      statuses: ['pending', 'running'],
      one: async (durably, id, as) => {
        const outcome = await durably.cancel(id, as)
        if (outcome === 'refused') throw new CliError(`run ${id} has already ended`)
        return outcome === 'requested' ? 'asked to stop' : undefined
      },
      many: (durably, filter, options) => durably.cancelRuns(filter, options),
    }),
}
