// What the jobs of this process say of themselves, stored for processes that do not have them.
import type { Job } from '../model/job.ts'
import { jsonSchema } from '../model/json-schema.ts'
import { subscriptionsOf } from '../model/subscription.ts'
import type { DefinitionStore, NewDefinition } from '../store/cluster/definitions.ts'
import { allDefinitions } from './all-definitions.ts'
import { isLasting } from './is-lasting.ts'
import type { PublishJobsDeps } from './lazy-cluster.ts'

/** A busy worker looks more often than that. It is less than an idle one waits, so that every look of that one tries again. */
const AGAIN_MS = 500
/** None of them; so it is tried again. */
const UNPUBLISHED = -1

/** What the database does not take, by the jobs of the instance. */
const rejected = new WeakMap<PublishJobsDeps['jobs'], { error: unknown; againAt: number }>()

/** Returns of how many jobs everybody knows. What the database rejects is reported; it does not keep the worker from its runs. */
export async function publishJobs({ store, jobs, env, report }: PublishJobsDeps, all: readonly Job[]): Promise<number> {
  if (!store.cluster || env.mono() < (rejected.get(jobs)?.againAt ?? 0)) return UNPUBLISHED
  try {
    await publish(store.cluster, all)
    rejected.delete(jobs)
    return all.length
  } catch (error) {
    if (!isLasting(error)) throw error
    rejected.set(jobs, { error, againAt: env.mono() + AGAIN_MS })
    report(error)
    return UNPUBLISHED
  }
}

/** Whoever sends an event has to know that jobs of this process would not get it. */
export function throwIfRejected(jobs: PublishJobsDeps['jobs']): void {
  const known = rejected.get(jobs)
  if (known) throw known.error
}

/** Writes only what differs: a process that starts like the last one sends one read. */
async function publish(cluster: DefinitionStore, jobs: readonly Job[]): Promise<void> {
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
