// The chapter of the cluster, publishing each change once it is written. It is loaded with the first schedule.
import type { ClusterStore } from '../store/cluster/cluster.ts'
import type { Change } from '../store/notifier.ts'

type Verb = (...args: unknown[]) => Promise<{ outcome?: string } | undefined>

/** The outcomes of operations that have changed something. */
const DONE = ['done', 'fired', 'triggered', 'stored', 'delivered']

/** A schedule that was written may be due, or have made a run; so may an event. A proxy, because a chapter that is loaded lazily does not know its operations yet. */
export function publishingCluster(cluster: ClusterStore, publish: (change: Change) => void): ClusterStore {
  return new Proxy(cluster, {
    get(target, verb) {
      const call = Reflect.get(target, verb) as Verb
      return async (...args: unknown[]) => {
        const answer = await call(...args)
        if (answer?.outcome && DONE.includes(answer.outcome)) publish({ type: 'work' })
        return answer
      }
    },
  })
}
