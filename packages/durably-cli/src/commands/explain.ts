import type { Remedy } from '@coji/durably'
import type { Command } from '../command.ts'
import { EXIT } from '../exit-code.ts'
import { withDurably } from '../open.ts'
import { paint } from '../output/paint.ts'
import { printableLines } from '../output/printable.ts'

export const explain: Command = {
  name: 'explain',
  summary: 'say why a run does not go on, and what to do',
  about: 'Follows the runs that it waits for to the one that everything waits for.',
  args: [{ name: 'id', what: 'the id of the run' }],
  examples: ['durably explain 01JCZX3P0V6S6V7M3YB8Q8Y3GT', 'durably explain 01JCZX3P0V6S6V7M3YB8Q8Y3GT --json'],
  run: (given, io) =>
    withDurably(given, io, async (durably) => {
      const explanation = await durably.explain(given.arg('id'))
      if (given.has('json')) {
        io.out(JSON.stringify(explanation))
        return EXIT.done
      }
      io.out(printableLines(explanation.text))
      const command = commandFor(explanation.remedy)
      if (command) io.out(`\n  ${paint(io, 'cyan', command)}`)
      return EXIT.done
    }),
}

/** The command that does what the explanation advises. */
function commandFor(remedy: Remedy): string | undefined {
  switch (remedy.do) {
    case 'signal':
      return `durably signal ${remedy.runId} ${remedy.name} '<value as JSON>'`
    case 'decide':
      return `durably decide ${remedy.runId} ${remedy.step} --done '<result as JSON>'`
    case 'retry':
      return `durably retry ${remedy.runId}`
    case 'start a worker':
      return `durably worker ./jobs.ts   # a file that defines ${remedy.jobName}`
    default:
      return undefined
  }
}
