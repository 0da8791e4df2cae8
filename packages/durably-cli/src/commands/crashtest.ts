import type { Durably } from '@coji/durably'
import type { CrashFault, CrashTestOptions } from '@coji/durably/testing'
import type { Command } from '../command.ts'
import { CliError, EXIT, UsageError } from '../exit-code.ts'
import type { Given } from '../given.ts'
import { defineJobs, type JobFile, loadJobFile } from '../job-file.ts'
import { suggestion } from '../nearest.ts'
import type { Io } from '../output/io.ts'
import { paint } from '../output/paint.ts'
import { printableLines } from '../output/printable.ts'
import { readValue } from '../read-value.ts'

const FAULTS: readonly CrashFault[] = ['crash before', 'crash after commit', 'lost reply', 'lease stolen', 'cancel']

export const crashtest: Command = {
  name: 'crashtest',
  summary: 'run a job once for each place where its worker could crash, and compare; the exit code is 1 if it behaves differently',
  about:
    'The job runs in memory and on a virtual clock, so its sleeps take no time; what its steps do outside is done for each case.\n' +
    'At each write it meets a crash, a lost reply, a stolen lease and a cancel.',
  args: [{ name: 'file', what: 'the file that defines the job' }],
  options: {
    input: { value: 'json', short: 'i', what: 'the input: JSON, a file such as input.json or @input.json, or -; {} by default' },
    job: { value: 'name', short: 'j', what: 'which job, if the file defines several' },
    fault: { value: 'fault', many: true, choices: FAULTS, what: 'only these faults' },
    seeds: { value: 'number', what: 'how many timings of the store are tried; 1 by default' },
    signals: { value: 'json', what: 'the answer to each ctx.waitFor, by name' },
    timeout: { value: 'ms', what: 'how long one run may take in real time; 5000 by default' },
  },
  withoutDatabase: true,
  examples: [
    'durably crashtest ./jobs.ts --job order --input order.json',
    `durably crashtest ./approval.ts --signals '{"approval":true}' --seeds 5`,
  ],
  async run(given, io) {
    // The other commands need not load the code for tests.
    const { crashTest } = await import('@coji/durably/testing')
    const file = await loadJobFile(given.arg('file'))
    const report = await crashTest(jobOf(file, given), await inputOf(given, io), await optionsOf(given, io))
    if (given.has('json')) io.out(JSON.stringify(report))
    else io.out(paint(io, report.ok ? 'green' : 'red', printableLines(String(report))))
    return report.ok ? EXIT.done : EXIT.refused
  },
}

function jobOf(file: JobFile, given: Given) {
  return async (durably: Durably) => {
    await defineJobs(durably, file)
    const names = [...durably.jobs.keys()]
    const name = given.text('job') ?? (names.length === 1 ? names[0] : undefined)
    if (name === undefined) throw new UsageError(`${given.arg('file')} defines ${names.join(', ') || 'no job'}; name one with --job`)
    const job = durably.jobs.get(name)
    if (!job) throw new CliError(`${given.arg('file')} defines no job ${JSON.stringify(name)}; ${suggestion(name, names)}`, EXIT.usage)
    return job
  }
}

async function inputOf(given: Given, io: Io): Promise<unknown> {
  const text = given.text('input') ?? '{}'
  return readValue('--input', text.endsWith('.json') && !text.startsWith('@') ? `@${text}` : text, io)
}

async function optionsOf(given: Given, io: Io): Promise<CrashTestOptions> {
  const faults = given.texts('fault') as CrashFault[]
  const signals = given.text('signals')
  const timeout = given.wholeNumber('timeout')
  const seeds = given.wholeNumber('seeds', { max: 1000 })
  return {
    ...(faults.length > 0 && { faults }),
    ...(signals !== undefined && { signals: (await readValue('--signals', signals, io)) as Record<string, unknown> }),
    ...(timeout !== undefined && { timeout }),
    ...(seeds !== undefined && { seeds }),
  }
}
