// What the jobs of this process say of themselves, stored for processes that do not have them.
import type { Job } from '../model/job.ts'
import { jsonSchema } from '../model/json-schema.ts'
import { subscriptionsOf } from '../model/subscription.ts'
import type { DefinitionStore, NewDefinition } from '../store/cluster/definitions.ts'
import { allDefinitions } from './all-definitions.ts'

/** Writes only what differs: a process that starts like the last one sends one read. */
export async function publishJobs(cluster: DefinitionStore, jobs: readonly Job[]): Promise<void> {
  const known = new Map((await allDefinitions(cluster, { names: jobs.map(({ name }) => name) })).map((row) => [row.name, row]))
  const changed = jobs.map(definitionOf).filter((job) => !isSame(job, known.get(job.name)))
  if (changed.length > 0) await cluster.putDefinitions(changed)
}

function definitionOf({ name, input, on = [] }: Job): NewDefinition {
  const schema = jsonSchema(input)
  const subscriptions = subscriptionsOf(`on of job ${JSON.stringify(name)}`, on)
  return {
    name,
    input: schema && JSON.stringify(schema),
    subscriptions: subscriptions.length === 0 ? null : JSON.stringify(subscriptions),
  }
}

function isSame(job: NewDefinition, known: NewDefinition | undefined): boolean {
  return known?.input === job.input && known.subscriptions === job.subscriptions
}
