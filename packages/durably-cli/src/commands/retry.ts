import { type ActorOption, type Durably, DurablyError } from '@coji/durably'
import { AdvisedCommands } from '../advised-commands.ts'
import type { Command } from '../command.ts'
import { CONDITIONS } from '../conditions.ts'
import { CliError } from '../exit-code.ts'
import { actOnRuns, MANY_OPTIONS } from '../many-runs.ts'
import { waitingInWords } from '../output/waiting.ts'
import type { Place } from '../place.ts'

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
      one: retryOne,
      many: (durably, filter, options) => durably.retryRuns(filter, options),
    }),
}

async function retryOne(durably: Durably, id: string, as: ActorOption, place: Place): Promise<undefined> {
  try {
    await durably.retry(id, as)
  } catch (error) {
    if (error instanceof DurablyError && error.code === 'run_not_retryable') await refuseUnfinished(durably, id, place)
    throw error
  }
}

/** Nobody is to trigger a new run beside one that has not ended: the work would be done twice. */
async function refuseUnfinished(durably: Durably, id: string, place: Place): Promise<void> {
  const run = await durably.getRun(id)
  if (run?.status !== 'pending' && run?.status !== 'running') return
  const how = run.waitingFor ? `${run.phase}, ${waitingInWords(run.waitingFor, place.now())}` : run.phase
  throw new CliError(
    `run ${id} has not ended (${how}), so it still does its work, and there is nothing to retry; this says more:\n  ${new AdvisedCommands(place).explain(id)}`,
  )
}
