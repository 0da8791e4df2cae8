// WorldAudit — checks the rows after every change of a world, and its whole history at the end.
import type { EventRow } from '../../model/event.ts'
import type { RunRow } from '../../model/run.ts'
import type { StepRow } from '../../model/step.ts'
import type { CancelOutcome, Changed, ClaimRequest } from '../../store/runs.ts'
import type { Store } from '../../store/store.ts'
import { DueAudit, type History, RowAudit, StreamAudit, type Violation } from '../invariants/index.ts'
import type { Archive } from './archive.ts'
import { CancelWatch } from './cancel-watch.ts'
import { ClaimWatch } from './claim-watch.ts'
import { figuresOf, judge, plansOf } from './judge.ts'
import { rareFiguresOf } from './rare-figures.ts'
import { NO_FLEET, type SimFleet } from './sim-fleet.ts'
import type { SimLedger } from './sim-ledger.ts'
import type { SteadyJobs } from './steady-jobs.ts'
import type { Answer } from './store-line.ts'
import { isClaim, StoreNotes } from './store-notes.ts'
import type { TabAudit } from './tab-audit.ts'

const MUTATING = new Set([
  ...['runs.create', 'runs.claim', 'runs.apply', 'runs.reap', 'runs.cancel', 'runs.retry', 'runs.delete', 'runs.purge'],
  ...['signals.send', 'transact', 'cluster.assign', 'cluster.orphan', 'cluster.claimAssigned', 'cluster.claimOpen'],
])
const NO_TABS = { terms: 0, thefts: 0 }

interface WorldAuditDeps {
  store: Store
  listRuns: () => Promise<RunRow[]>
  ledger: SimLedger
  archive: Archive
  /** Undefined where the workers are not tabs of a browser. */
  tabs: TabAudit | undefined
  /** Undefined where the workers are not a fleet. */
  fleet: SimFleet | undefined
  storeMs: () => number
  mono: () => number
  /** Called with the rows after every change. */
  onLook: (runs: readonly RunRow[]) => void
}

/** What the checks at the end need to know beside the recorded history. */
interface WorldFacts {
  bookings: History['ledger']['bookings'] | undefined
  maxRecoveries: number
  faultFree: boolean
  hadClockJump: boolean
  steadyJobs: SteadyJobs
}

type Rows = Pick<History, 'runs' | 'steps' | 'events'>

export class WorldAudit {
  readonly #deps: WorldAuditDeps
  readonly #rows: RowAudit
  readonly #dues = new DueAudit()
  readonly #streams: StreamAudit
  readonly #notes: StoreNotes
  readonly #claims: ClaimWatch
  readonly #cancels = new CancelWatch()
  readonly #counts = { commits: 0, groups: 0, claims: 0, batches: 0 }
  /** Settles when the last check of the rows has ended. */
  looked: Promise<void> = Promise.resolve()

  constructor(deps: WorldAuditDeps) {
    const { tabs, ledger, store } = deps
    this.#deps = deps
    this.#rows = new RowAudit((run) => tabs?.isAbandoned(run) === true)
    this.#streams = new StreamAudit(ledger.streams)
    this.#notes = new StoreNotes(ledger)
    this.#claims = new ClaimWatch(store)
  }

  /** The store has carried out a request of a process. */
  applied(process: string, verb: string, answer: Answer, args: readonly unknown[], arrivedMs: number): void {
    const { storeMs, mono } = this.#deps
    this.#notes.take(verb, answer, args, { storeMs: storeMs(), mono: mono(), arrivedMs })
    if (MUTATING.has(verb) && hasChanged(answer)) {
      this.#notes.expectChange()
      this.looked = this.#look(this.looked)
    }
    const answered = 'value' in answer && Array.isArray(answer.value) ? answer.value : []
    if (verb === 'runs.cancel' && hasStopped(answer)) this.#cancels.cancelled(args[0] as string)
    if (verb === 'runs.apply') this.#count('commits', 'groups', answered)
    if (isClaim(verb)) {
      this.#count('claims', 'batches', answered)
      this.#claims.claimed(process, (args[0] as ClaimRequest).tokens)
    }
    if (verb === 'runs.adopt') void this.#claims.adopted(process, args[0] as readonly string[], answered)
  }

  /** `kept`: the rows that the store has at the end. */
  judge(kept: Rows, { bookings, hadClockJump, steadyJobs, ...facts }: WorldFacts) {
    const { archive, ledger, tabs, fleet, storeMs } = this.#deps
    const rows = {
      runs: [...kept.runs, ...archive.runs],
      steps: [...kept.steps, ...archive.steps],
      events: [...kept.events, ...archive.events],
    }
    const history: History = {
      ...rows,
      ...facts,
      ledger: { ...ledger, ...(bookings && { bookings }) },
      acknowledged: ledger.acknowledged,
      mayStartLate: hadClockJump,
      purged: archive.places,
      plans: plansOf(rows.runs, steadyJobs),
    }
    this.#rows.look(kept.runs, kept.steps, storeMs())
    this.#streams.look(rows)
    this.#streams.compare(history)
    const watches = [this.#rows, this.#dues, this.#streams, this.#claims, this.#cancels, archive, ...(tabs ? [tabs] : [])]
    const violations: Violation[] = [...watches.flatMap((watch) => watch.violations), ...judge(history), ...(fleet?.judge(kept.runs) ?? [])]
    const { deleted } = archive
    const { refused } = ledger
    const figures = {
      ...figuresOf(history),
      ...rareFiguresOf(history),
      ...this.#counts,
      ...(tabs?.counts ?? NO_TABS),
      ...(fleet?.figures ?? NO_FLEET),
      deleted,
      refused,
    }
    return { violations, figures }
  }

  #count(all: 'commits' | 'claims', shared: 'groups' | 'batches', { length }: readonly unknown[]): void {
    if (length >= 1) this.#counts[all]++
    if (length >= 2) this.#counts[shared]++
  }

  /** Reads only what is new: to read everything each time would cost more than the world itself. */
  async #look(before: Promise<void>): Promise<void> {
    const { store, listRuns, ledger, fleet, storeMs, onLook } = this.#deps
    const nowMs = storeMs()
    const runs = await listRuns()
    const steps: StepRow[] = []
    const events: EventRow[] = []
    for (const { id, lastEventSequence } of runs) {
      const after = this.#streams.sequenceOf(id)
      if (lastEventSequence === after) continue
      events.push(...(await store.events.list(id, { after })))
      steps.push(...(await store.steps.list(id)))
    }
    // While a user's transaction blocks the store, reads may be answered in another order than they were sent.
    await before
    this.#rows.look(runs, steps, nowMs)
    this.#dues.look(runs, nowMs)
    this.#streams.look({ runs, steps, events })
    this.#cancels.look(runs)
    fleet?.look(runs, ledger.executions, nowMs)
    this.#notes.see(runs)
    onLook(runs)
  }
}

/** A request that found nothing to do changed nothing; one that failed may have changed something before. */
function hasChanged(answer: Answer): boolean {
  if ('error' in answer) return true
  const { value } = answer
  return Array.isArray(value) ? value.length > 0 : value !== 0 && value !== null
}

/** A run that has ended before stays as it is. */
function hasStopped(answer: Answer): boolean {
  const outcome = 'value' in answer ? (answer.value as CancelOutcome | Changed | null)?.outcome : undefined
  return outcome === 'cancelled' || outcome === 'requested'
}
