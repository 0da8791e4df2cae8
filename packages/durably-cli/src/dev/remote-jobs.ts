import type { Durably } from '@coji/durably'
import type { DevJob } from './messages.ts'
import type { WorkerProcess } from './worker-process.ts'

/** Defines jobs whose code is in the worker process: its schemas check the input, and it alone executes them. */
export function defineRemoteJobs(durably: Durably, worker: Pick<WorkerProcess, 'validate' | 'state'>, jobs: readonly DevJob[]): void {
  for (const { name } of jobs) {
    const input = () => {
      const schema = worker.state.jobs.find((job) => job.name === name)?.inputSchema
      if (!schema) throw new Error('the schema library of the job has no JSON Schema')
      return schema
    }
    const standard = {
      version: 1 as const,
      vendor: 'durably-dev',
      validate: (value: unknown) => worker.validate(name, value),
      jsonSchema: { input, output: input },
    }
    durably.defineJob({ name, input: { '~standard': standard } }, async () => {
      throw new Error('the server of durably dev executes no runs')
    })
  }
}
