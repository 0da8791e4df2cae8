import { DurablyError } from '../model/errors.ts'
import { type Job, signalSchema, validate } from '../model/job.ts'
import type { RunRow } from '../model/run.ts'

/** Refuses a signal that the job of the run does not declare, and a value that does not fit. If `jobName` is given, the run must be one of that job. */
export async function checkSignal(
  jobs: ReadonlyMap<string, Job>,
  { id: runId, jobName }: RunRow,
  name: string,
  value: unknown,
  expectedJob = jobName,
): Promise<void> {
  if (jobName !== expectedJob)
    throw new DurablyError(
      'run_not_found',
      `run ${runId} is one of job ${JSON.stringify(jobName)}, not of ${JSON.stringify(expectedJob)}`,
      {
        runId,
      },
    )
  const job = jobs.get(jobName)
  const schema = job && signalSchema(job, name)
  // The run gets what the schema makes of the value when it receives it, so the value is sent as it is.
  if (schema) await validate(schema, value, 'invalid_input', () => `signal ${JSON.stringify(name)}`)
}
