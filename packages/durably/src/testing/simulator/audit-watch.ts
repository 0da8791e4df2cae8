// AuditWatch — stands before the store of a fleet, where every command has an actor, and looks for its entry when it was carried out.
//   I73. A command that was accepted has one entry, also if its answer was lost and it was given again; one that was refused has none.
import type { NewAuditEntry } from '../../store/cluster/audit.ts'
import type { CancelOutcome, Changed } from '../../store/runs.ts'
import type { Store } from '../../store/store.ts'
import type { Violation } from '../invariants/index.ts'
import { withVerbs } from './with-verbs.ts'

/** `may`: it cannot be told from the answer whether this very call has changed something. */
type Verdict = 'must' | 'may' | 'never'

const ENTRIES_MAX = 1000

export class AuditWatch {
  readonly violations: Violation[] = []
  /** How many commands have an entry. */
  recorded = 0
  /** The entries of the calls that sent one signal. */
  readonly #sent = new Map<string, Set<string>>()

  over(store: Store): Store {
    const { runs, signals, cluster } = store
    if (!cluster) return store
    const checked = async <T>(audit: NewAuditEntry | undefined, act: () => Promise<T>, verdictOf: (answer: T) => Verdict): Promise<T> => {
      const answer = await act()
      if (audit) await this.#check(store, audit, verdictOf(answer))
      return answer
    }
    const done = (outcome: string) => (answer: { outcome: string } | null) => (answer?.outcome === outcome ? 'must' : 'never')
    return {
      ...store,
      runs: withVerbs(runs, {
        cancel: (id, options) => checked(options?.audit, () => runs.cancel(id, options), ofCancel),
        retry: (id, options) => checked(options?.audit, () => runs.retry(id, options), done('retried')),
        delete: (id, options) => checked(options?.audit, () => runs.delete(id, options), done('deleted')),
      }),
      signals: withVerbs(signals, {
        send: async (signal, options) => {
          const answer = await checked(
            options?.audit,
            () => signals.send(signal, options),
            (told) => (told === 'accepted' ? 'may' : 'never'),
          )
          if (answer === 'accepted' && options?.audit) await this.#once(store, `${signal.runId}/${signal.id}`, options.audit)
          return answer
        },
      }),
      cluster: withVerbs(cluster, {
        switchWorker: (id, state, options) =>
          checked(
            options?.audit,
            () => cluster.switchWorker(id, state, options),
            (isThere) => (isThere ? 'may' : 'never'),
          ),
        lead: async (request) => {
          const answer = await cluster.lead(request)
          if (answer.epoch !== null) await this.#elected(store, request.workerId, answer.epoch)
          return answer
        },
      }),
    }
  }

  async #check(store: Store, entry: NewAuditEntry, verdict: Verdict): Promise<void> {
    const isThere = (await this.#idsOf(store, entry)).has(entry.id)
    if (isThere) this.recorded++
    if (verdict === 'must' && !isThere) this.#broken(entry, 'was carried out, and has no entry')
    if (verdict === 'never' && isThere) this.#broken(entry, 'was refused, and has an entry')
  }

  /** A signal that is sent again has another entry each time; only the first one that was carried out is stored. */
  async #once(store: Store, signal: string, entry: NewAuditEntry): Promise<void> {
    const sent = this.#sent.get(signal) ?? new Set()
    this.#sent.set(signal, sent.add(entry.id))
    const stored = await this.#idsOf(store, entry)
    const count = [...sent].filter((id) => stored.has(id)).length
    // The first call may have failed without an answer to us, after it was carried out.
    if (count > 1 || (count === 0 && sent.size === 1 && !this.#mayBeUnseen(store)))
      this.#broken(entry, `was accepted, and has ${count} entries`)
  }

  /** In memory, a call that was carried out is always seen here. */
  #mayBeUnseen(store: Store): boolean {
    return store.transact !== undefined
  }

  async #elected(store: Store, workerId: string, epoch: number): Promise<void> {
    const found = (await store.cluster?.findAudit({ target: { kind: 'leader', id: 'leader' }, limit: ENTRIES_MAX })) ?? []
    const isThere = found.some((entry) => entry.version === epoch && entry.actor === workerId)
    if (!isThere)
      this.violations.push({ invariant: 'I73', runId: null, what: `${workerId} was elected as epoch ${epoch}, and has no entry` })
  }

  async #idsOf({ cluster }: Store, { targetKind, targetId }: NewAuditEntry): Promise<Set<string>> {
    const found = await cluster?.findAudit({ target: { kind: targetKind, id: targetId }, limit: ENTRIES_MAX })
    return new Set(found?.map(({ id }) => id))
  }

  #broken({ action, targetKind, targetId }: NewAuditEntry, what: string): void {
    this.violations.push({ invariant: 'I73', runId: targetKind === 'run' ? targetId : null, what: `${action} of ${targetId} ${what}` })
  }
}

/** A run that was asked to stop before is asked no second time. */
function ofCancel(answer: CancelOutcome | Changed | null): Verdict {
  if (!answer || answer.outcome === 'changed') return 'never'
  if (answer.outcome === 'cancelled' || answer.others.length > 0) return 'must'
  return answer.outcome === 'requested' ? 'may' : 'never'
}
