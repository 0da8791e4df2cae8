// The duties and the schedules of an instance, whose code is loaded when a duty is due or a schedule is asked for (ADR 0009).
import type { Env } from '../model/env.ts'
import type { Labels } from '../model/labels.ts'
import { lazyCode, lazyVerbs, once } from '../model/lazy.ts'
import type { RunRow } from '../model/run.ts'
import type { ClaimRequest } from '../store/runs.ts'
import type { Store } from '../store/store.ts'
import type { Duties, Performed } from './duties.ts'
import type { DutiesDeps } from './duties-of.ts'
import type { Fleet } from './fleet.ts'
import type { FleetOptions } from './fleet-options.ts'
import type { ElectedProcess } from './leader.ts'
import type { Schedules, SchedulesDeps } from './schedules.ts'

export const clusterCode = lazyCode(() => import('./cluster-code.ts'))

export function lazySchedules(deps: SchedulesDeps): Schedules {
  return lazyVerbs(once(async () => new (await clusterCode(deps.env)).Schedules(deps)))
}

export async function lazyLeader({ env, store }: { env: Env; store: Store }): Promise<ElectedProcess | null> {
  return (await clusterCode(env)).electedProcess(store.cluster)
}

export interface LazyDuties extends Pick<Duties, 'resign'> {
  /** True: nothing is performed. */
  isWithheld: boolean
  /** Makes this process one of the register. */
  join(options: FleetOptions): void
  /** Whether this process has these labels. */
  fits(runsOn: Labels | undefined): boolean
  /** As the process with this name. `dutyInMs`: when a schedule is due. */
  perform(workerId: string, dutyInMs: number): Promise<Performed>
  /** The claim of the worker with this name. */
  claim(request: ClaimRequest & { workerId: string }): Promise<RunRow[]>
}

const NOTHING: Performed = { isDone: false, againInMs: Number.POSITIVE_INFINITY }

export function lazyDuties(deps: DutiesDeps): LazyDuties {
  let options: FleetOptions | null = null
  let made: { duties: Duties; fleet: Fleet | null } | undefined
  const make = async (workerId: string) => {
    const { dutiesOf } = await clusterCode(deps.env)
    made ??= dutiesOf(deps, workerId, options)
    return made
  }
  return {
    isWithheld: false,
    join(given) {
      options = given
    },
    fits: (runsOn = {}) => Object.entries(runsOn).every(([name, value]) => options?.labels[name] === value),
    async perform(workerId, dutyInMs) {
      if (this.isWithheld) return NOTHING
      if (dutyInMs > 0 && !options) return { isDone: false, againInMs: dutyInMs }
      return (await make(workerId)).duties.perform(dutyInMs)
    },
    async claim(request) {
      return options ? ((await make(request.workerId)).fleet?.claim(request) ?? []) : deps.runs.claim(request)
    },
    resign: async () => made?.duties.resign(),
  }
}
