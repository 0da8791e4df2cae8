// Defining a job: from then on the worker of the instance claims its runs.
import { DurablyError } from '../model/errors.ts'
import { checkJob, type Job } from '../model/job.ts'
import { type JobHandle, type JobHandleDeps, jobHandle } from './job-handle.ts'

interface DefineJobDeps {
  jobs: Map<string, Job>
  handles: Map<string, JobHandle<string, unknown, unknown>>
  handleDeps: JobHandleDeps
  /** Runs of the job may be waiting. */
  worker: { wake(): void }
}

export function defineJob<TName extends string, TInput, TOutput>(
  { jobs, handles, handleDeps, worker }: DefineJobDeps,
  job: Job & { name: TName },
): JobHandle<TName, TInput, TOutput> {
  checkJob(job)
  if (jobs.has(job.name))
    throw new DurablyError(
      'duplicate_job',
      `job ${JSON.stringify(job.name)} is already defined on this instance; define each job once and share its handle`,
    )
  jobs.set(job.name, job)
  const handle = jobHandle<TName, TInput, TOutput>(job, handleDeps)
  handles.set(job.name, handle as JobHandle<string, unknown, unknown>)
  worker.wake()
  return handle
}
