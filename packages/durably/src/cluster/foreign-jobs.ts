// Jobs whose code this process does not have: an input is checked by what their workers said of it, as far as that goes, and by them.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type Env, loaded } from '../model/env.ts'
import type { Job } from '../model/job.ts'
import { checkName } from '../model/name.ts'
import type { Run } from '../model/run.ts'
import type { DefinitionStore } from '../store/cluster/definitions.ts'
import type { WorkerStore } from '../store/cluster/workers.ts'
import type { RunStore } from '../store/runs.ts'
import { type UnknownJob, unknownJobs } from './unknown-jobs.ts'

export interface ForeignJobsDeps {
  /** Absent if the store keeps no definitions. */
  cluster: (DefinitionStore & WorkerStore) | undefined
  runs: RunStore
  env: Env
  /** Those that are defined here, by name. */
  jobs: ReadonlyMap<string, Job>
  /** Creates runs of a job, with the options of a trigger. */
  triggerJob: (job: Job, inputs: { payload: unknown; options: object }[]) => Promise<Run[]>
}

export class ForeignJobs {
  readonly #deps: ForeignJobsDeps

  constructor(deps: ForeignJobsDeps) {
    this.#deps = deps
  }

  /** Null if no worker has spoken of a job of this name. */
  async known(name: string): Promise<Job | null> {
    const { cluster, env } = this.#deps
    const [definition] = (await cluster?.findDefinitions({ names: [name], limit: 1 })) ?? []
    if (!definition) return null
    const { input } = definition
    return input === null ? foreignJob(name) : foreignJob(name, (await loaded(env, () => import('./check-input.ts'))).inputCheck(input))
  }

  /** Of any name. With `tx` nothing is asked of the store, which is inside of that transaction, and only the worker checks. */
  async trigger(jobName: string, payload: unknown, options: { tx?: unknown } = {}): Promise<Run> {
    const { jobs, triggerJob } = this.#deps
    const name = checkName('job name', jobName)
    const known = jobs.get(name) ?? (options.tx === undefined ? await this.known(name) : null)
    const [run] = await triggerJob(known ?? foreignJob(name), [{ payload, options }])
    if (!run) throw new Error('S2: create must answer for each run')
    return run
  }

  /** The jobs that have due runs, and that are not defined here. */
  unknown(): Promise<UnknownJob[]> {
    return unknownJobs(this.#deps)
  }
}

function foreignJob(name: string, check: (value: unknown) => StandardSchemaV1.Issue[] = () => []): Job {
  const validate = (value: unknown): StandardSchemaV1.Result<unknown> => {
    const issues = check(value)
    return issues.length > 0 ? { issues } : { value }
  }
  return { name, input: { '~standard': { version: 1, vendor: 'durably', validate } }, output: undefined, isForeign: true, run() {} }
}
