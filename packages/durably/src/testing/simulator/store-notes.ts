// StoreNotes — records in the ledger what the store did: which runs were created and claimed, which signals were accepted, which leases
// ended.
import { jsonCodec } from '../../model/codec.ts'
import { decidedStep } from '../../model/decision-name.ts'
import type { RunRow } from '../../model/run.ts'
import type { SignalRow } from '../../model/signal.ts'
import { endsLease, type OwnerWrite, type WriteOutcome } from '../../store/owner-write.ts'
import type { Created, NewRun } from '../../store/runs.ts'
import type { CreatedNote } from '../invariants/index.ts'
import type { SimLedger } from './sim-ledger.ts'
import type { Answer } from './store-line.ts'

const CLAIMS: ReadonlySet<string> = new Set(['runs.claim', 'cluster.claimAssigned', 'cluster.claimOpen'])

interface Moment {
  /** The store's clock. */
  storeMs: number
  mono: number
  /** The store's clock when the request arrived: it may have waited for a connection, and the clock may have been set back meanwhile. */
  arrivedMs: number
}

export class StoreNotes {
  readonly #ledger: SimLedger
  readonly #codec = jsonCodec()
  readonly #claimed = new Set<string>()
  /** The runs as they were before the current request; by id where they were needed. */
  #seen: readonly RunRow[] = []
  #byId: ReadonlyMap<string, RunRow> | null = null
  #unseen = 0

  constructor(ledger: SimLedger) {
    this.#ledger = ledger
  }

  /** The runs have changed, and will be seen: until then nothing is known of them. */
  expectChange(): void {
    this.#unseen++
  }

  see(runs: readonly RunRow[]): void {
    this.#unseen--
    this.#seen = runs
    this.#byId = null
  }

  get #rows(): ReadonlyMap<string, RunRow> {
    this.#byId ??= new Map(this.#seen.map((run) => [run.id, run]))
    return this.#byId
  }

  /** Records a request that the store carried out, whether or not its answer arrives. */
  take(verb: string, answer: Answer, args: readonly unknown[], now: Moment): void {
    if (!('value' in answer)) return
    if (verb === 'runs.create') this.#created(args[0] as readonly NewRun[], answer.value as readonly Created[], now)
    if (isClaim(verb)) for (const row of answer.value as readonly RunRow[]) this.#claim(row, now)
    if (verb === 'runs.apply') this.#applied(args[0] as readonly OwnerWrite[], answer.value as readonly WriteOutcome[], now)
    if (verb === 'signals.send' && answer.value === 'accepted') this.#signal(args[0] as SignalRow)
  }

  #created(asked: readonly NewRun[], created: readonly Created[], { arrivedMs }: Moment): void {
    for (const [i, { run, created: isNew }] of created.entries()) {
      const { runAt, delayMs } = asked[i] ?? { runAt: null, delayMs: null }
      // A run that could only start after its deadline is due at its deadline.
      const dueAt = Math.min(runAt ?? arrivedMs + (delayMs ?? 0), run.deadlineAt ?? Number.POSITIVE_INFINITY)
      // A request that is sent again created its run the first time.
      if (isNew && !this.#rows.has(run.id))
        this.#ledger.created.push({ place: this.#ledger.place(), runId: run.id, dueAt, parentStatus: this.#parentStatus(run) })
    }
  }

  #parentStatus({ parentRunId }: RunRow): CreatedNote['parentStatus'] {
    return parentRunId === null || this.#unseen > 0 ? null : (this.#rows.get(parentRunId)?.status ?? 'gone')
  }

  #claim({ id, leaseGeneration, runAt, waitingFor }: RunRow, { storeMs, arrivedMs, mono }: Moment): void {
    // A claim that is sent again is answered with what it claimed the first time.
    const lease = `${id}/${leaseGeneration}`
    if (this.#claimed.has(lease)) return
    this.#claimed.add(lease)
    this.#ledger.claims.push({
      place: this.#ledger.place(),
      runId: id,
      generation: leaseGeneration,
      atMs: Math.max(storeMs, arrivedMs),
      worldMs: mono,
      runAt,
      waitingFor,
      isCancelled: this.#isAskedToStop(id),
    })
  }

  /** Whether the run or one of its ancestors was asked to stop. An ancestor that completed or failed does not cancel its children. */
  #isAskedToStop(runId: string): boolean {
    for (let run = this.#rows.get(runId); run; run = this.#rows.get(run.parentRunId ?? '')) {
      if (run.cancelRequestedAt !== null) return true
      if (run.status === 'completed' || run.status === 'failed') return false
    }
    return false
  }

  #applied(writes: readonly OwnerWrite[], outcomes: readonly WriteOutcome[], { mono }: Moment): void {
    const ledger = this.#ledger
    for (const [i, { verb, claim }] of writes.entries()) {
      if (!outcomes[i]?.ok || !endsLease(verb)) continue
      const { runId, generation } = claim
      ledger.leaseEnded(runId, generation, mono)
      if ('waitingFor' in verb) ledger.putAway.push({ place: ledger.place(), runId, generation, waitingFor: verb.waitingFor })
    }
  }

  #signal({ runId, name, value }: SignalRow): void {
    const ledger = this.#ledger
    const place = ledger.place()
    const step = decidedStep(name)
    if (step === undefined) ledger.signals.push({ place, runId, name, value })
    else ledger.answers.push({ place, runId, step, wasNot: !isDone(this.#codec.decode(value)) })
  }
}

function isDone(decision: unknown): boolean {
  return typeof decision === 'object' && decision !== null && 'done' in decision
}

export function isClaim(verb: string): boolean {
  return CLAIMS.has(verb)
}
