// The duties and the schedules of an instance, whose code is loaded when a duty is due or a schedule is asked for (ADR 0009).
import type { Env } from '../model/env.ts'
import { lazyCode, lazyVerbs, once } from '../model/lazy.ts'
import type { Store } from '../store/store.ts'
import type { Duties, Performed } from './duties.ts'
import type { DutiesDeps } from './duties-of.ts'
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
  /** As the process with this name. */
  perform(workerId: string): Promise<Performed>
}

const NOTHING: Performed = { isDone: false, againInMs: Number.POSITIVE_INFINITY }

export function lazyDuties(deps: DutiesDeps): LazyDuties {
  let duties: Duties | undefined
  return {
    isWithheld: false,
    async perform(workerId) {
      if (this.isWithheld) return NOTHING
      const { dutiesOf } = await clusterCode(deps.env)
      duties ??= dutiesOf(deps, workerId)
      return duties.perform()
    },
    resign: async () => duties?.resign(),
  }
}
