// The duties, the schedules and the inbox of an instance, whose code is loaded when a duty is due or one of them is asked for (ADR 0009).
import type { Env } from '../model/env.ts'
import type { Job } from '../model/job.ts'
import type { Labels } from '../model/labels.ts'
import { lazyCode, lazyPart, once } from '../model/lazy.ts'
import type { RunRow } from '../model/run.ts'
import type { ClaimRequest } from '../store/runs.ts'
import type { Store } from '../store/store.ts'
import type { ClusterDeps, ClusterParts } from './cluster-parts.ts'
import type { DueDuties, Duties, Performed, WorkOfInstance } from './duties.ts'
import type { DutiesDeps } from './duties-of.ts'
import type { Fleet } from './fleet.ts'
import type { FleetOptions } from './fleet-options.ts'

export const clusterCode = lazyCode(() => import('./cluster-code.ts'))

/** Each part comes with its first verb. */
export function lazyClusterParts(deps: ClusterDeps): ClusterParts {
  const open = once(async () => new (await clusterCode(deps.env)).ClusterParts(deps))
  return new Proxy({} as ClusterParts, { get: (_, name) => lazyPart(open, (parts) => parts[name as keyof ClusterParts]) })
}

export interface PublishJobsDeps {
  env: Env
  store: Store
  jobs: ReadonlyMap<string, Job>
  report: (error: unknown) => void
  /** Also if none of them subscribes to events. */
  publishesJobs: boolean
}

/** Has the jobs stored that are defined so far, if one of them subscribes to events, or if that is asked for. Not a promise if there is nothing to do. */
export function lazyPublishJobs(deps: PublishJobsDeps): () => Promise<void> | undefined {
  const { env, store, jobs, publishesJobs } = deps
  let published = 0
  return () => {
    const all = [...jobs.values()]
    if (!store.cluster || all.length === published || !(publishesJobs || all.some(({ on }) => on))) return
    const publish = async () => {
      published = await (await clusterCode(env)).publishJobs(deps, all)
    }
    return publish()
  }
}

export interface LazyDuties extends Pick<Duties, 'resign'>, WorkOfInstance {
  /** Makes this process one of the register. */
  join(options: FleetOptions): void
  /** Whether this process has these labels. */
  fits(runsOn: Labels | undefined): boolean
  /** As the process with this name. */
  perform(workerId: string, due: DueDuties): Promise<Performed>
  /** The claim of the worker with this name. */
  claim(request: ClaimRequest & { workerId: string }): Promise<RunRow[]>
}

export function lazyDuties(deps: DutiesDeps): LazyDuties {
  let options: FleetOptions | null = null
  let made: { duties: Duties; fleet: Fleet | null } | undefined
  const make = async (workerId: string) => {
    const { dutiesOf } = await clusterCode(deps.env)
    made ??= dutiesOf(deps, workerId, options)
    return made
  }
  return {
    join(given) {
      options = given
      // It may have worked before, without a place in the register.
      made = undefined
    },
    fits: (runsOn) => !runsOn || Object.entries(runsOn).every(([name, value]) => options?.labels[name] === value),
    async perform(workerId, due) {
      if (due.dutyInMs > 0 && !due.hasEvents && !options) return { isDone: false, againInMs: due.dutyInMs }
      return (await make(workerId)).duties.perform(due, this)
    },
    claim: (request) => (options ? make(request.workerId).then(({ fleet }) => fleet?.claim(request) ?? []) : deps.runs.claim(request)),
    resign: async () => made?.duties.resign(),
  }
}
