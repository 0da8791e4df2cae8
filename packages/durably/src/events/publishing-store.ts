// PublishingStore — a store that publishes each change once it is written.
// The one place that knows which operation changes something for whom; for commands and for the chapter of the cluster, which are
// loaded later, that is `publishing-commands.ts` and `publishing-cluster.ts`.
import type { RunRow } from '../model/run.ts'
import type { ClusterStore } from '../store/cluster/cluster.ts'
import type { Change } from '../store/notifier.ts'
import { endsLease, type OwnerWrite, type WriteOutcome } from '../store/owner-write.ts'
import type { Created, RunStore } from '../store/runs.ts'
import type { Store } from '../store/store.ts'

export function publishingStore(store: Store, publish: (change: Change) => void): Store {
  const { steps, events, logs, signals, cluster, archive, eventLog, errorStacks = true, transact } = store
  const { runs, started } = publishingRuns(store.runs, publish)
  return {
    runs,
    steps,
    events,
    logs,
    signals: {
      async send(...args) {
        const outcome = await signals.send(...args)
        if (outcome === 'accepted') publish({ type: 'work' })
        return outcome
      },
      list: (runId) => signals.list(runId),
    },
    ...(cluster && { cluster: publishingClaims(cluster, started) }),
    ...(archive && { archive }),
    eventLog,
    errorStacks,
    ...(transact && {
      async transact(body, statementMs) {
        let runId = ''
        const outcome = await transact(async (trx) => {
          const write = await body(trx)
          runId = write.claim.runId
          return write
        }, statementMs)
        if ('ok' in outcome && outcome.ok) publish({ type: 'events', runId })
        return outcome
      },
    }),
    migrate: () => store.migrate(),
    close: () => store.close(),
  }
}

/** A proxy, because a chapter that is loaded lazily does not know its operations yet. */
function publishingClaims(cluster: ClusterStore, started: (claimed: RunRow[]) => RunRow[]): ClusterStore {
  const claims: Pick<ClusterStore, 'claimAssigned' | 'claimOpen'> = {
    claimAssigned: (request) => cluster.claimAssigned(request).then(started),
    claimOpen: (request) => cluster.claimOpen(request).then(started),
  }
  return new Proxy(cluster, { get: (target, verb) => Reflect.get(Object.hasOwn(claims, verb) ? claims : target, verb) })
}

function publishingRuns(runs: RunStore, publish: (change: Change) => void): { runs: RunStore; started: (claimed: RunRow[]) => RunRow[] } {
  /** Runs that hold a key: when one of them ends, another may begin. */
  const keyHolders = new Set<string>()

  function stored(created: Created[]): Created[] {
    if (created.some(({ created }) => created)) publish({ type: 'work' })
    return created
  }

  function started(claimed: RunRow[]): RunRow[] {
    for (const { id, concurrencyKey } of claimed) {
      if (concurrencyKey !== null) keyHolders.add(id)
      publish({ type: 'events', runId: id })
    }
    return claimed
  }

  function written({ claim: { runId, parentRunId }, verb, events }: OwnerWrite, { ok }: WriteOutcome): void {
    const isEnding = endsLease(verb)
    const heldKey = (isEnding || !ok) && keyHolders.delete(runId)
    if (!ok) return
    if (verb.type !== 'heartbeat' || events.length > 0) publish({ type: 'events', runId, isHeld: !isEnding })
    // A parent may have waited for this end.
    if (isEnding && (heldKey || parentRunId || verb.type === 'release')) publish({ type: 'work' })
  }

  const publishing: RunStore = {
    create: (newRuns, options) => runs.create(newRuns, options).then(stored),
    claim: (request) => runs.claim(request).then(started),
    adopt: (tokens) => runs.adopt(tokens).then(started),
    apply: (writes) =>
      runs.apply(writes).then((outcomes) => {
        writes.forEach((write, i) => {
          written(write, outcomes[i] ?? { ok: false })
        })
        return outcomes
      }),
    async reap(request) {
      const reaped = await runs.reap(request)
      for (const { run } of reaped) publish({ type: 'events', runId: run.id })
      if (reaped.length > 0) publish({ type: 'work' })
      return reaped
    },
    held: () => runs.held(),
    wasAlive: (claim) => runs.wasAlive(claim),
    cancel: (...args) => runs.cancel(...args),
    retry: (...args) => runs.retry(...args),
    delete: (...args) => runs.delete(...args),
    get: (id) => runs.get(id),
    getChild: (parentRunId, step) => runs.getChild(parentRunId, step),
    getHolder: (concurrencyKey) => runs.getHolder(concurrencyKey),
    list: (query) => runs.list(query),
    oldestDue: (jobNames) => runs.oldestDue(jobNames),
    dueJobs: (request) => runs.dueJobs(request),
    probe: (jobNames) => runs.probe(jobNames),
    count: (jobNames) => runs.count(jobNames),
    purge: (request) => runs.purge(request),
  }
  return { runs: publishing, started }
}
