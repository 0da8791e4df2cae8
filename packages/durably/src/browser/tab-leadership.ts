// The tab that holds the lock executes runs. While it does, its timers come from a worker, since a hidden page's own are slow.
import { LeaderLock } from '../store/leader-lock.ts'
import type { Leadership, LeadershipDeps, Term } from '../store/leadership.ts'
import { hostFrozen } from './database-client.ts'
import { placeNames } from './protocol.ts'
import type { WorkerTimers } from './worker-timers.ts'

interface TabLeadershipDeps extends LeadershipDeps {
  name: string
  timers: WorkerTimers
  /** Whether a tab has the database open and answers. */
  isReachable: () => Promise<boolean>
}

export function tabLeadership({ name, tablePrefix, timers, isReachable, report, ...deps }: TabLeadershipDeps): Leadership {
  let isReported = false
  const lock = new LeaderLock({
    ...deps,
    name: placeNames(name).lead(tablePrefix),
    async isReachable() {
      const isReached = await isReachable()
      if (!isReached && !isReported) report(hostFrozen())
      isReported = !isReached
      return isReached
    },
  })

  function timed(term: Term | null): Term | null {
    if (!term) return null
    timers.start()
    return {
      get inherits() {
        return term.inherits
      },
      ended: term.ended,
      release() {
        timers.stop()
        term.release()
      },
    }
  }

  return {
    take: async (signal) => timed(await lock.take(signal)),
    takeIfFree: async () => timed(await lock.takeIfFree()),
  }
}
