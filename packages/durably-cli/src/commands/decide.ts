import type { Decision } from '@coji/durably'
import { AS_OPTION, actorOf } from '../actor.ts'
import type { Command } from '../command.ts'
import { UsageError } from '../exit-code.ts'
import type { Given } from '../given.ts'
import { withDurably } from '../open.ts'
import type { Io } from '../output/io.ts'
import { readValue } from '../read-value.ts'

export const decide: Command = {
  name: 'decide',
  summary: 'say what became of a step with effect "once" whose worker was lost',
  args: [
    { name: 'id', what: 'the id of the run' },
    { name: 'step', what: 'the name of the step' },
  ],
  options: {
    done: { value: 'json', what: 'it took place, and this is its result' },
    failed: { value: 'message', what: 'it counts as failed' },
    'run-again': { what: 'it did not take place, and should run' },
    ...AS_OPTION,
  },
  examples: [
    `durably decide 01JCZX3P0V6S6V7M3YB8Q8Y3GT charge --done '{"chargeId":"ch_1"}'`,
    'durably decide 01JCZX3P0V6S6V7M3YB8Q8Y3GT charge --run-again',
  ],
  run: (given, io) =>
    withDurably(given, io, async (durably) => {
      const [id, step] = [given.arg('id'), given.arg('step')]
      await durably.decide(id, step, await decisionOf(given, io), actorOf(given, io))
      io.out(given.has('json') ? JSON.stringify({ id, step }) : `decided about ${step}; run ${id} goes on`)
      return undefined
    }),
}

async function decisionOf(given: Given, io: Io): Promise<Decision> {
  const chosen = ['done', 'failed', 'run-again'].filter((option) => given.has(option))
  if (chosen.length !== 1) throw new UsageError('give one of --done <json>, --failed <message> and --run-again')
  if (given.has('run-again')) return 'run again'
  const failed = given.text('failed')
  return failed === undefined ? { done: await readValue('--done', given.text('done') ?? '', io) } : { failed }
}
