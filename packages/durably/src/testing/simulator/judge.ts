// Judge — checks the invariants over the history of a simulated world after all its runs have ended, and counts what happened in it.
import { jsonCodec } from '../../model/codec.ts'
import { checkInvariants, type History, type JobPlan, recordsByStep, type StepPlan, stepKey, type Violation } from '../invariants/index.ts'
import { callsOf, type PlannedCall, type PlannedWork, SHAPES } from './planned-run.ts'
import type { RareFigures } from './rare-figures.ts'
import type { FleetFigures } from './sim-fleet.ts'
import { type SteadyJobs, steady } from './steady-jobs.ts'
import type { Part, SimPayload } from './workload.ts'

export interface SimFigures extends RareFigures, FleetFigures {
  runs: number
  steps: number
  executions: number
  /** Attempts of streams. */
  streams: number
  /** Committed transactions of owner writes, and those of them with two writes or more. */
  commits: number
  groups: number
  /** Claims that found something, and those that found two runs or more. */
  claims: number
  batches: number
  kills: number
  simulatedMs: number
  /** Attempts of jobs and tries of steps that failed and were followed by another one. */
  retries: number
  tries: number
  /** Runs that failed because their time was over. */
  timeouts: number
  sleeps: number
  /** Signals that were received, and waits whose time was over. */
  signals: number
  waitsOver: number
  children: number
  /** How often a person or a `reconcile` function decided about an effect that may have taken place. */
  doubts: number
  /** Recorded transactions of users, and transactions that lost their connection. */
  transactions: number
  cuts: number
  /** Runs that are gone, and those of them that were deleted one by one. */
  purged: number
  deleted: number
  /** Calls inside of a step that the engine refused, because they may wait. */
  refused: number
  /** Runs with children that were retried or cancelled while all ended runs were purged. */
  families: number
  /** How often one machine, or all of them, slept. */
  suspends: number
  /** Where the workers are tabs: how often one began to lead, and how often it had stolen the lead. */
  terms: number
  thefts: number
  /** Runs of schedules, changes of their leader, and firings of processes that led no more, which were refused. */
  scheduled: number
  elections: number
  refusals: number
  /** Events that were delivered, and deliveries of processes that led no more, which were refused. */
  events: number
  eventRefusals: number
}

const codec = jsonCodec()

/** What the jobs and steps were planned to do, read from the payloads of the runs. */
export function plansOf(runs: History['runs'], { attempts, delayMs, jitter, timeoutMs }: SteadyJobs): NonNullable<History['plans']> {
  const steps = new Map<string, StepPlan>()
  const labelsOf = new Map<string, string | null>()
  for (const { id, payload } of runs) {
    const { labels, steps: plannedSteps } = codec.decode(payload) as SimPayload
    labelsOf.set(id, labels ? JSON.stringify(labels) : null)
    for (const step of plannedSteps)
      for (const planned of callsOf([step]))
        steps.set(stepKey({ runId: id, step: planned.name }), { ...stepPlan(planned), isLeg: step.kind === 'race' })
  }
  const plain: JobPlan = { attemptsMax: 1, delayMs: 0, timeoutMs: null }
  const persistent: JobPlan = { attemptsMax: attempts, delayMs: jitter ? 0 : delayMs, timeoutMs: timeoutMs ?? null }
  const jobs = SHAPES.flatMap((shape): [string, JobPlan][] => [
    [shape, plain],
    [steady(shape), persistent],
  ])
  return { steps, jobs: new Map(jobs), labels: labelsOf }
}

function stepPlan(planned: PlannedCall): Omit<StepPlan, 'isLeg'> {
  return {
    kind: planned.kind,
    triesMax: planned.kind === 'work' ? triesOf(planned) : 1,
    isInvoked: planned.kind === 'child' && planned.invoked,
    enqueues: planned.kind === 'booking' && planned.enqueues,
    dawdles: planned.kind === 'booking' ? planned.dawdles : 0,
    timeoutMs: planned.kind === 'work' ? planned.timeoutMs : null,
  }
}

/** A step that throws a fatal error is not tried again; one that runs out of time, or returns a value that cannot be stored, is. */
function triesOf({ retry, fatal, misfit, timeoutMs }: PlannedWork): number {
  return fatal && misfit === null && timeoutMs === null ? 1 : (retry?.tries ?? 1)
}

export function judge(history: History): Violation[] {
  return [...checkInvariants(history), ...outputsAreRecords(history)]
}

/** I7, I11: a completed run's output is made of exactly the values that its steps recorded, whichever execution recorded them. */
function outputsAreRecords(history: History): Violation[] {
  const recorded = recordsByStep(history)
  const violations: Violation[] = []
  for (const run of history.runs) {
    if (run.status !== 'completed') continue
    for (const part of codec.decode(run.output) as Part[]) {
      const key = stepKey({ runId: run.id, step: part.step })
      const isWait = history.plans?.steps.get(key)?.kind === 'wait'
      if ('value' in part && codec.encode(isWait ? [part.value] : part.value, 'value') !== recorded.get(key)?.output)
        violations.push({ invariant: 'I11', runId: run.id, what: `the output holds another value of ${part.step} than its record` })
    }
  }
  return violations
}

type Seen = Pick<
  SimFigures,
  | 'runs'
  | 'steps'
  | 'executions'
  | 'streams'
  | 'retries'
  | 'tries'
  | 'timeouts'
  | 'sleeps'
  | 'signals'
  | 'waitsOver'
  | 'children'
  | 'doubts'
  | 'transactions'
  | 'purged'
>

/** The figures of a world that follow from its history. */
export function figuresOf({ runs, steps, events, ledger, plans, purged }: History): Seen {
  const recorded: Record<StepPlan['kind'], number> = { work: 0, sleep: 0, wait: 0, child: 0, booking: 0 }
  let tries = 0
  let signals = 0
  for (const { runId, name, status, output } of steps) {
    const plan = plans?.steps.get(stepKey({ runId, step: name }))
    if (!plan) continue
    if (status === 'completed') recorded[plan.kind]++
    else if (status === 'failed' && plan.triesMax > 1) tries++
    if (plan.kind === 'wait' && status === 'completed' && output !== '[]') signals++
  }
  return {
    runs: runs.length,
    steps: steps.length,
    executions: ledger.effects.length,
    streams: ledger.streams?.length ?? 0,
    retries: events.filter(({ type, payload }) => type === 'run:retry' && payload.includes('"attempt"')).length,
    tries,
    timeouts: runs.filter(({ reason }) => reason === 'timeout').length,
    sleeps: recorded.sleep,
    signals,
    waitsOver: recorded.wait - signals,
    children: runs.filter(({ parentRunId }) => parentRunId !== null).length,
    doubts: ledger.answers?.length ?? 0,
    transactions: recorded.booking,
    purged: purged?.size ?? 0,
  }
}
