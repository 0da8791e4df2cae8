import type { Durably, Run, TriggerOptions } from '@coji/durably'
import type { Command } from '../command.ts'
import { labelsOf } from '../conditions.ts'
import { CliError, EXIT } from '../exit-code.ts'
import type { Given } from '../given.ts'
import { defineJobs, loadJobFile } from '../job-file.ts'
import { suggestion } from '../nearest.ts'
import { withDurably } from '../open.ts'
import { runTable } from '../output/run-table.ts'
import { readValue } from '../read-value.ts'
import { waitForEnd } from '../wait-for-end.ts'

export const trigger: Command = {
  name: 'trigger',
  summary: 'store a new run of a job; a worker of any process executes it',
  about:
    'Without --jobs the input is checked by what workers published of the job (publishJobs), and in any case by the worker: a run with a wrong one fails.',
  args: [{ name: 'job', what: 'the name of the job' }],
  options: {
    input: { value: 'json', short: 'i', what: 'the input: JSON, @file.json, or - for standard input; {} by default' },
    jobs: { value: 'file', what: 'the file that defines the job, whose schema then checks the input' },
    'idempotency-key': { value: 'text', what: 'a second trigger with this key returns the first run' },
    'concurrency-key': { value: 'text', what: 'of all runs with this key one executes at a time' },
    label: { value: 'name=value', short: 'l', many: true, what: 'a label of the run' },
    delay: { value: 'duration', what: 'start so much later: 30s, 5m, 1h' },
    wait: { what: 'wait until the run has ended; the exit code is 1 unless it completed' },
  },
  examples: [
    `durably trigger greet --input '{"name":"Ada"}'`,
    'durably trigger import --input @order.json --jobs ./jobs.ts --wait',
    'echo \'{"day":1}\' | durably trigger report --input - --idempotency-key day-1',
  ],
  run: (given, io) =>
    withDurably(given, io, async (durably, { now }) => {
      const input = await readValue('--input', given.text('input') ?? '{}', io)
      const [name, file] = [given.arg('job'), given.text('jobs')]
      if (file !== undefined) await defineFrom(file, durably, name)
      let run: Run = await durably.trigger(name, input, optionsOf(given))
      if (given.has('wait')) run = await waitForEnd(durably, run.id, io.interrupted)
      io.out(given.has('json') ? JSON.stringify(run) : runTable(io, [run], now()))
      return given.has('wait') && run.status !== 'completed' ? EXIT.refused : EXIT.done
    }),
}

/** With the job at hand, its schema checks the input here. */
async function defineFrom(file: string, durably: Durably, name: string): Promise<void> {
  await defineJobs(durably, await loadJobFile(file))
  if (durably.jobs.has(name)) return
  throw new CliError(`${file} defines no job ${JSON.stringify(name)}; ${suggestion(name, [...durably.jobs.keys()])}`, EXIT.usage)
}

function optionsOf(given: Given): TriggerOptions {
  const labels = labelsOf(given)
  const texts = {
    idempotencyKey: given.text('idempotency-key'),
    concurrencyKey: given.text('concurrency-key'),
    delay: given.text('delay'),
  }
  const present = Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== undefined)) as TriggerOptions
  return { ...present, ...(labels && { labels }) }
}
