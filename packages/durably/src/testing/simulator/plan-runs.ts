// Plans what the runs of a simulated world do, decided by its seed: chains and fans of steps of every kind, short and as long as a lease,
// some of which fail. Each world has its own mix of kinds; nearly half of the worlds have steps and streams only.
import { chance, oneOf, pick } from './chance.ts'
import { isRushHour, isWorldOfCrowds, isWorldOfFamilies } from './world-kinds.ts'

export const SHAPES = ['chain', 'fan'] as const
const STREAMS_SHARE = 0.4
const IN_STEP_SHARE = 0.7
const PLAIN_WORLDS = 0.45
/** How likely one of the other worlds has a kind at all, and how often it occurs there. */
const KIND_SHARE = 0.55
const SPECIAL_SHARE = 0.5
const DEPTH_MAX = 2
const DEPTH_MAX_OF_FAMILIES = 3
const CROWD_SHARE = 0.1
const CROWD_MIN = 20
const CROWD_MAX = 120
const KINDS_OF_FAMILIES: readonly string[] = ['child', 'sleep', 'wait']
const KINDS = ['sleep', 'wait', 'child', 'booking', 'race'] as const
const EXTRAS = ['once', 'retry', 'timeout', 'due', 'deadline', 'steady', 'hopeless', 'later', 'spoiled', 'nested'] as const

/** A value that cannot be stored: the database rejects it, it cannot be serialized, or it is too large. */
export type Misfit = 'rejected' | 'instance' | 'function' | 'too large'
const MISFITS: readonly [Misfit, ...Misfit[]] = ['rejected', 'rejected', 'instance', 'function', 'too large']

/** A call inside of a step. A plain step is allowed there; the engine refuses calls that may wait. */
export type Inner = 'step' | 'tried step' | 'sleep' | 'wait' | 'child'
const INNERS: readonly [Inner, ...Inner[]] = ['step', 'step', 'tried step', 'sleep', 'wait', 'child']

interface Named {
  name: string
}

/** A step with a function: plain, or a stream. */
export interface PlannedWork extends Named {
  kind: 'work'
  ms: number
  /** How many of its first executions throw. */
  throws: number
  /** It throws an error that says that another try would not help. */
  fatal: boolean
  /** It throws an error that says when it, or its job, is to be tried again. */
  laterMs: number | null
  /** Instead of throwing it returns a value that cannot be stored. */
  misfit: Misfit | null
  /** It ignores its signal. */
  deaf: boolean
  /** What it emits while it executes; `null` for a plain step. */
  stream: PlannedStream | null
  retry: PlannedRetry | null
  timeoutMs: number | null
  /** How many of its first executions take much longer than its timeout. */
  dawdles: number
  /** What its function calls of the job's context. */
  inner: Inner | null
  /** It must not run twice; its `reconcile` function or a person decides whether it took effect. */
  once: 'reconciled' | 'decided' | null
}

export interface PlannedRetry {
  tries: number
  delayMs: number
}

export interface PlannedStream {
  parts: number
  /** How many parts there are between two checkpoints; 0 for none. */
  checkpointEvery: number
  /** It does not wait until what it emits is written. */
  hasty: boolean
}

export interface PlannedSleep extends Named {
  kind: 'sleep'
  ms: number
  /** It sleeps until a time instead of for a duration. */
  until: boolean
}

export interface PlannedWait extends Named {
  kind: 'wait'
  timeoutMs: number | null
  /** When each sender sends, counted from when the run was first seen; nobody sends if it is empty. */
  senders: { afterMs: number; twice: boolean }[]
  /** The job goes on when its time is over. */
  tolerant: boolean
}

export interface PlannedChild extends Named {
  kind: 'child'
  invoked: boolean
  job: string
  steps: PlannedStep[]
  concurrencyKey: string | undefined
  tolerant: boolean
}

/** Many children at once, each with one short step or none. */
export interface PlannedCrowd extends Named {
  kind: 'crowd'
  size: number
  invoked: boolean
  /** How long the step of the first child takes; `null` where the children have no step. */
  ms: number | null
  /** By how much longer the step of each next child takes, so that they end one after the other. */
  spreadMs: number
  tolerant: boolean
}

/** A step that writes rows of the user in the transaction of its record, and may trigger a run in it. */
export interface PlannedBooking extends Named {
  kind: 'booking'
  throws: number
  /** How many of its first executions take longer than its timeout, between two of its rows. */
  dawdles: number
  /** Its own timeout; `null` for the default of transactions. */
  timeoutMs: number | null
  enqueues: boolean
}

export type PlannedLeg = PlannedWork | PlannedSleep | PlannedWait

/** A `Promise.race` of calls: only the last is sure to settle. */
export interface PlannedRace extends Named {
  kind: 'race'
  legs: PlannedLeg[]
}

/** A call that has a record of its own. */
export type PlannedCall = PlannedWork | PlannedSleep | PlannedWait | PlannedChild | PlannedBooking

export type PlannedStep = PlannedCall | PlannedRace | PlannedCrowd

export interface PlannedRun {
  job: string
  steps: PlannedStep[]
  spoiled: PlannedSpoil | undefined
  idempotencyKey: string | undefined
  concurrencyKey: string | undefined
  delayMs: number | undefined
  deadlineMs: number | undefined
  atMs: number
}

/** A job whose first executions that reach the end return a value that cannot be stored. */
export interface PlannedSpoil {
  times: number
  misfit: Misfit
}

/** The jobs with a retry policy: how often they are tried, and how long one execution may take. */
export interface SteadyJobs {
  attempts: number
  delayMs: number
  jitter: boolean
  timeoutMs: number | undefined
}

export function planSteadyJobs(seed: number, leaseMs: number): SteadyJobs {
  return {
    attempts: pick(seed, 'attempts', 2, 4),
    delayMs: oneOf(seed, 'delay', [0, 2000, 15_000]),
    jitter: chance(seed, 'jitter') < 0.3,
    timeoutMs: oneOf(seed, 'job timeout', [undefined, undefined, leaseMs * 0.8, leaseMs * 2]),
  }
}

export interface Scope {
  leaseMs: number
  withinMs: number
  /** Users can write in transactions of the store. */
  hasTransactions: boolean
}

export function planRuns(seed: number, scope: Scope): PlannedRun[] {
  const planner = new Planner(seed, scope)
  const isRush = isRushHour(seed)
  const runs = isWorldOfCrowds(seed) ? pick(seed, 'runs', 2, 4) : isRush ? pick(seed, 'runs', 6, 12) : pick(seed, 'runs', 3, 8)
  return Array.from({ length: runs }, (_, n) => ({
    ...planner.run(`run ${n}`),
    ...(isRush && { idempotencyKey: undefined, concurrencyKey: undefined, atMs: pick(seed, `crowd of ${n % 2}`, 0, scope.withinMs) }),
  }))
}

class Planner {
  readonly #seed: number
  readonly #scope: Scope
  readonly #kinds: readonly (typeof KINDS)[number][]
  readonly #hasFamilies: boolean
  readonly #hasCrowds: boolean
  readonly #extras: ReadonlySet<(typeof EXTRAS)[number]>

  constructor(seed: number, scope: Scope) {
    this.#seed = seed
    this.#scope = scope
    const isPlain = chance(seed, 'plain world') < PLAIN_WORLDS
    const knows = (what: string) => !isPlain && chance(seed, `knows ${what}`) < KIND_SHARE
    this.#hasFamilies = isWorldOfFamilies(seed)
    this.#hasCrowds = isWorldOfCrowds(seed)
    // Few worlds have transactions, so those have many.
    this.#kinds = [...KINDS, 'booking' as const].filter(
      (kind) => (knows(kind) || (this.#hasFamilies && KINDS_OF_FAMILIES.includes(kind))) && (kind !== 'booking' || scope.hasTransactions),
    )
    this.#extras = new Set(EXTRAS.filter(knows))
  }

  run(name: string): PlannedRun {
    const seed = this.#seed
    const { withinMs } = this.#scope
    return {
      job: this.#job(name),
      steps: this.#steps(name, pick(seed, `${name} steps`, 1, 4), 0),
      spoiled: this.#knows('spoiled', name, 0.3) ? this.#spoil(name) : undefined,
      idempotencyKey: chance(seed, `${name} key`) < 0.5 ? `key-${pick(seed, `${name} which key`, 0, 3)}` : undefined,
      concurrencyKey: this.#lane(name),
      delayMs: this.#knows('due', name, 0.3) ? pick(seed, `${name} delay`, 1, 20_000) : undefined,
      deadlineMs: this.#knows('deadline', name, 0.3) ? pick(seed, `${name} deadline`, 2000, 90_000) : undefined,
      atMs: pick(seed, `${name} time`, 0, withinMs),
    }
  }

  #job(name: string): string {
    const shape = oneOf(this.#seed, `${name} shape`, SHAPES)
    return this.#knows('steady', name, 0.5) ? steady(shape) : shape
  }

  #lane(name: string): string | undefined {
    return chance(this.#seed, `${name} lane`) < 0.5 ? `lane-${pick(this.#seed, `${name} which lane`, 0, 1)}` : undefined
  }

  #steps(name: string, count: number, depth: number): PlannedStep[] {
    return Array.from({ length: count }, (_, i) => this.#step(`${name} step ${i}`, i, depth))
  }

  #step(name: string, i: number, depth: number): PlannedStep {
    if (this.#hasCrowds && depth === 0 && this.#isCrowd(name)) return this.#crowd(name, i)
    const [first, ...others] = this.#kindsAt(depth)
    if (first === undefined || chance(this.#seed, `${name} special`) >= SPECIAL_SHARE) return this.#work(name, i)
    switch (oneOf(this.#seed, `${name} kind`, [first, ...others])) {
      case 'sleep':
        return this.#sleep(name, i)
      case 'wait':
        return this.#wait(name, i)
      case 'child':
        return this.#child(name, i, depth)
      case 'booking':
        return {
          kind: 'booking',
          name: `b${i}`,
          throws: chance(this.#seed, `${name} throws`) < 0.15 ? 1 : 0,
          dawdles: chance(this.#seed, `${name} dawdles`) < 0.2 ? pick(this.#seed, `${name} times`, 1, 2) : 0,
          timeoutMs: oneOf(this.#seed, `${name} limit`, [null, 200]),
          enqueues: chance(this.#seed, `${name} enqueues`) < 0.3,
        }
      case 'race':
        return this.#race(name, i)
    }
  }

  /** Children are most frequent in worlds of families. */
  #kindsAt(depth: number): (typeof KINDS)[number][] {
    if (depth >= (this.#hasFamilies ? DEPTH_MAX_OF_FAMILIES : DEPTH_MAX)) return this.#kinds.filter((kind) => kind !== 'child')
    return this.#hasFamilies ? [...this.#kinds, 'child', 'child'] : [...this.#kinds]
  }

  #work(name: string, i: number): PlannedWork {
    const seed = this.#seed
    const { leaseMs } = this.#scope
    // Most steps take as long as the same step of other runs, so that they write at the same time.
    const pace = chance(seed, `${name} in step`) < IN_STEP_SHARE ? `step ${i}` : name
    const retry = this.#knows('retry', name, 0.4) ? this.#retry(name) : null
    const timeoutMs = this.#knows('timeout', name, 0.3) ? oneOf(seed, `${name} timeout`, [300, 2000, leaseMs * 0.7]) : null
    const once = this.#knows('once', name, 0.45) ? oneOf(seed, `${name} asks`, ['reconciled', 'decided'] as const) : null
    return {
      kind: 'work',
      name: `s${i}`,
      ms: oneOf(seed, `${pace} ms`, [0, 5, 400, 3000, leaseMs * 0.5, leaseMs * 1.1]),
      throws: chance(seed, `${name} throws`) < (retry ? 0.5 : this.#hasFamilies ? 0.25 : 0.08) ? pick(seed, `${name} times`, 1, 3) : 0,
      fatal: chance(seed, `${name} fatal`) < 0.1,
      laterMs: this.#knows('later', name, 0.6) ? oneOf(seed, `${name} later`, [0, 3000, 20_000]) : null,
      misfit: chance(seed, `${name} unstorable`) < 0.4 ? oneOf(seed, `${name} misfit`, MISFITS) : null,
      deaf: chance(seed, `${name} deaf`) < 0.3,
      stream: !retry && !once && timeoutMs === null && chance(seed, `${pace} streams`) < STREAMS_SHARE ? this.#stream(pace) : null,
      retry,
      inner: !once && timeoutMs === null && this.#knows('nested', name, 0.3) ? oneOf(seed, `${name} inner`, INNERS) : null,
      timeoutMs,
      dawdles: timeoutMs === null ? 0 : pick(seed, `${name} dawdles`, 0, 2),
      once,
    }
  }

  #spoil(name: string): PlannedSpoil {
    const misfit = oneOf<Misfit>(this.#seed, `${name} spoils`, ['instance', 'function', 'too large'])
    return { times: pick(this.#seed, `${name} spoiled`, 1, 3), misfit }
  }

  #retry(name: string): PlannedRetry {
    const delayMs = oneOf(this.#seed, `${name} retry delay`, [0, 1000, 8000])
    return { tries: pick(this.#seed, `${name} tries`, 2, 4), delayMs }
  }

  #stream(pace: string): PlannedStream {
    return {
      parts: pick(this.#seed, `${pace} parts`, 1, 6),
      checkpointEvery: oneOf(this.#seed, `${pace} checkpoints`, [0, 1, 2, 3]),
      hasty: chance(this.#seed, `${pace} hasty`) < 0.3,
    }
  }

  #sleep(name: string, i: number): PlannedSleep {
    const ms = oneOf(this.#seed, `${name} sleep`, [0, 50, 3000, 12_000, 40_000])
    return { kind: 'sleep', name: `z${i}`, ms, until: chance(this.#seed, `${name} until`) < 0.25 }
  }

  #wait(name: string, i: number): PlannedWait {
    const seed = this.#seed
    const timeoutMs = chance(seed, `${name} timeout`) < 0.4 ? oneOf(seed, `${name} wait`, [0, 2000, 20_000]) : null
    const isHopeless = timeoutMs !== null ? chance(seed, `${name} nobody`) < 0.3 : this.#knows('hopeless', name, 0.3)
    const senders = Array.from({ length: isHopeless ? 0 : pick(seed, `${name} senders`, 1, 2) }, (_, n) => ({
      afterMs: oneOf(seed, `${name} after ${n}`, [0, 5, 500, 5000, 25_000]) + pick(seed, `${name} jitter ${n}`, 0, 20),
      twice: chance(seed, `${name} twice ${n}`) < 0.4,
    }))
    return { kind: 'wait', name: `w${i}`, timeoutMs, senders, tolerant: chance(seed, `${name} tolerant`) < 0.7 }
  }

  /** The first call may never settle; the other does. */
  #race(name: string, i: number): PlannedRace {
    const seed = this.#seed
    const first = this.#wait(`${name} first`, i)
    const other = oneOf(seed, `${name} other`, ['sleep', 'sleep', 'wait', 'work'] as const)
    const last = { sleep: () => this.#sleep(name, i), work: () => this.#work(name, i), wait: () => this.#wait(`${name} last`, i) }[other]()
    const nobody = { senders: chance(seed, `${name} nobody sends`) < 0.4 ? [] : first.senders }
    const certain = last.kind === 'wait' && isHopeless([last]) ? { timeoutMs: 2000 } : {}
    const legs = [
      { ...first, ...nobody },
      { ...last, ...certain },
    ].map((leg, n) => ({ ...leg, name: `r${i}.${n}` }))
    return { kind: 'race', name: `r${i}`, legs: chance(seed, `${name} turned`) < 0.5 ? legs : legs.toReversed() }
  }

  #child(name: string, i: number, depth: number): PlannedChild {
    const seed = this.#seed
    return {
      kind: 'child',
      name: `c${i}`,
      invoked: chance(seed, `${name} invoked`) < 0.65,
      job: this.#job(`${name} child`),
      steps: this.#steps(`${name} child`, pick(seed, `${name} child steps`, 1, 2), depth + 1),
      concurrencyKey: chance(seed, `${name} child lane`) < 0.3 ? this.#lane(`${name} child`) : undefined,
      tolerant: chance(seed, `${name} tolerant`) < 0.6,
    }
  }

  /** The first run has a crowd for certain. */
  #isCrowd(name: string): boolean {
    return name === 'run 0 step 0' || chance(this.#seed, `${name} crowd`) < CROWD_SHARE
  }

  #crowd(name: string, i: number): PlannedCrowd {
    const seed = this.#seed
    return {
      kind: 'crowd',
      name: `k${i}`,
      size: pick(seed, `${name} size`, CROWD_MIN, CROWD_MAX),
      invoked: chance(seed, `${name} invoked`) < 0.65,
      ms: oneOf(seed, `${name} ms`, [null, 0, 5, 400]),
      spreadMs: oneOf(seed, `${name} spread`, [0, 0, 50, 200]),
      tolerant: chance(seed, `${name} tolerant`) < 0.6,
    }
  }

  #knows(extra: (typeof EXTRAS)[number], name: string, share: number): boolean {
    return this.#extras.has(extra) && chance(this.#seed, `${name} ${extra}`) < share
  }
}

/** The name of the job of this shape that has a retry policy. */
export function steady(shape: string): string {
  return `steady ${shape}`
}

/** All calls with a record of their own, including those of races and crowds. */
export function callsOf(steps: readonly PlannedStep[]): PlannedCall[] {
  return steps.flatMap((step) => {
    switch (step.kind) {
      case 'race':
        return step.legs
      case 'crowd':
        return childrenOf(step)
      default:
        return [step]
    }
  })
}

export function childrenOf({ name, size, invoked, ms, spreadMs, tolerant }: PlannedCrowd): PlannedChild[] {
  return Array.from({ length: size }, (_, n) => ({
    kind: 'child',
    name: `${name}.${n}`,
    invoked,
    job: 'chain',
    steps: ms === null ? [] : [{ ...SHORT_WORK, ms: ms + n * spreadMs }],
    concurrencyKey: undefined,
    tolerant,
  }))
}

const SHORT_WORK: PlannedWork = {
  kind: 'work',
  name: 's0',
  ms: 0,
  throws: 0,
  fatal: false,
  laterMs: null,
  misfit: null,
  deaf: false,
  stream: null,
  retry: null,
  inner: null,
  timeoutMs: null,
  dawdles: 0,
  once: null,
}

/** It waits without a timeout for a signal that nobody sends: only a cancel or a deadline ends it. */
export function isHopeless(steps: readonly PlannedStep[]): boolean {
  return steps.some((step) => step.kind === 'wait' && step.timeoutMs === null && step.senders.length === 0)
}
