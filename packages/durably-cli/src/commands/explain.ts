import { type Durably, DurablyError, type ExplainedRun, type Explanation } from '@coji/durably'
import type { Worker } from '@coji/durably/cluster'
import { AdvisedCommands } from '../advised-commands.ts'
import type { Command } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import type { Source } from '../job-names.ts'
import { likelyJob } from '../misspelt-job.ts'
import { noSuchRun } from '../no-such-run.ts'
import { withDurably } from '../open.ts'
import { type Advice, adviceFor, adviceForMisspelt, type Misspelt } from '../output/advice.ts'
import type { Io } from '../output/io.ts'
import { paint } from '../output/paint.ts'
import { printable, printableLines } from '../output/printable.ts'
import type { Place } from '../place.ts'
import { workersAtWork, workersWith } from '../register.ts'

export const explain: Command = {
  name: 'explain',
  summary: 'say why a run does not go on, and what to do',
  about: 'Follows the runs that it waits for to the one that everything waits for. durably runs --label name=value finds the id of a run.',
  args: [{ name: 'id', what: 'the id of the run' }],
  examples: ['durably explain 01JCZX3P0V6S6V7M3YB8Q8Y3GT', 'durably explain 01JCZX3P0V6S6V7M3YB8Q8Y3GT --json'],
  run: (given, io) =>
    withDurably(given, io, async (durably, place) => {
      const commands = new AdvisedCommands(place)
      const explanation = await explained(durably, given.arg('id'), commands)
      if (given.has('json')) io.out(JSON.stringify(explanation))
      else await show(io, durably, place, explanation, commands)
      return EXIT.done
    }),
}

async function explained(durably: Durably, id: string, commands: AdvisedCommands): Promise<Explanation> {
  try {
    return await durably.explain(id)
  } catch (error) {
    if (error instanceof DurablyError && error.code === 'run_not_found') throw noSuchRun(id, commands)
    throw error
  }
}

/** The library speaks of its own process. This one never has jobs, so what others have is read in the register. */
async function show(io: Io, durably: Durably, place: Place, explanation: Explanation, commands: AdvisedCommands): Promise<void> {
  const { remedy, chain, actor } = explanation
  const workers = remedy.do === 'start a worker' || actor === 'time' ? await workersAtWork(durably) : []
  for (const run of chain) io.out(printableLines(run.cause === 'unknown job' ? dueLines(run, workers) : run.text))
  const misspelt = await misspeltRun({ durably, place }, explanation, workers)
  showAdvice(io, misspelt ? adviceForMisspelt(misspelt, commands) : adviceFor(explanation, workers, commands))
}

/** The run at the end of the chain, if no worker has its job and another job has nearly the same name. */
async function misspeltRun(
  { durably, place }: Source,
  { cause, chain }: Explanation,
  workers: readonly Worker[],
): Promise<Misspelt | null> {
  const last = chain.at(-1)
  if (cause !== 'unknown job' || !last || workersWith(workers, last.jobName).length > 0) return null
  const likely = await likelyJob({ durably, place }, last.jobName, workers)
  const run = likely && (await durably.getRun(last.runId))
  return run ? { run, likely } : null
}

function dueLines({ runId, jobName, since, text }: ExplainedRun, workers: readonly Worker[]): string {
  const own = workersWith(workers, jobName).map(({ id }) => JSON.stringify(id))
  const why =
    own.length > 0
      ? `and has a worker in the register: ${own.slice(0, 3).join(', ')}${own.length > 3 ? ', …' : ''}`
      : `but no worker ${workers.length > 0 ? 'of the register has its job' : 'is in the register, so none is known to have its job'}`
  const [, ...more] = text.split('\n')
  return [`Run ${runId} of job ${JSON.stringify(jobName)} is due, ${why}, since ${since}.`, ...more].join('\n')
}

function showAdvice(io: Io, { words, commands }: Advice): void {
  io.out(printable(words))
  if (commands.length > 0) io.out(`\n${commands.map((command) => `  ${paint(io, 'cyan', printable(command))}`).join('\n')}`)
}
