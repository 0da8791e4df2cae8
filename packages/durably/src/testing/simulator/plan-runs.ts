// Plans what the runs of a simulated world do, decided by its seed: chains and fans of steps of every kind, short and as long as a lease,
// some of which fail. Each world has its own mix of kinds; nearly half of the worlds have steps and streams only.
import type { Labels } from '../../model/labels.ts'
import { chance, oneOf, pick } from './chance.ts'
import {
  type Inner,
  isHopeless,
  type Misfit,
  mayHoldKey,
  type PlannedChild,
  type PlannedCrowd,
  type PlannedRace,
  type PlannedRetry,
  type PlannedRun,
  type PlannedSleep,
  type PlannedSpoil,
  type PlannedStep,
  type PlannedStream,
  type PlannedWait,
  type PlannedWork,
  SHAPES,
} from './planned-run.ts'
import { steady } from './steady-jobs.ts'
import { isRushHour, isWorldOfCrowds, isWorldOfFamilies, isWorldOfHeldKeys } from './world-kinds.ts'

const STREAMS_SHARE = 0.4
const IN_STEP_SHARE = 0.7
const PLAIN_WORLDS = 0.45
/** How likely one of the other worlds has a kind at all, and how often it occurs there. */
const KIND_SHARE = 0.55
const SPECIAL_SHARE = 0.5
const DEPTH_MAX = 2
const DEPTH_MAX_OF_FAMILIES = 3
const CROWD_SHARE = 0.1
const LABELS_SHARE = 0.4
const LANES_SHARE = 0.5
const HOLDS_SHARE = 0.6
const CROWD_MIN = 10
const CROWD_MAX = 60
/** Half of the size costs less than half of the time and finds nearly as much; but some errors need very many children at once. */
const LARGE_CROWDS_SHARE = 0.33
const LARGE_CROWD = 2
const KINDS_OF_FAMILIES: readonly string[] = ['child', 'sleep', 'wait']
const KINDS = ['sleep', 'wait', 'child', 'booking', 'race'] as const
const EXTRAS = ['once', 'retry', 'timeout', 'due', 'deadline', 'steady', 'hopeless', 'later', 'spoiled', 'nested'] as const

const MISFITS: readonly [Misfit, ...Misfit[]] = ['rejected', 'rejected', 'instance', 'function', 'too large']

const INNERS: readonly [Inner, ...Inner[]] = ['step', 'step', 'tried step', 'sleep', 'wait', 'child']

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
    ...(isRush && {
      idempotencyKey: undefined,
      concurrencyKey: undefined,
      holdKey: false,
      atMs: pick(seed, `crowd of ${n % 2}`, 0, scope.withinMs),
    }),
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
    const steps = this.#steps(name, pick(seed, `${name} steps`, 1, 4), 0)
    const mayHold = isWorldOfHeldKeys(seed)
    const concurrencyKey = this.#lane(name, mayHold ? 1 : LANES_SHARE)
    return {
      job: this.#job(name),
      steps,
      spoiled: this.#knows('spoiled', name, 0.3) ? this.#spoil(name) : undefined,
      idempotencyKey: chance(seed, `${name} key`) < 0.5 ? `key-${pick(seed, `${name} which key`, 0, 3)}` : undefined,
      concurrencyKey,
      holdKey: mayHold && chance(seed, `${name} holds`) < HOLDS_SHARE && mayHoldKey(steps),
      labels: chance(seed, `${name} labels`) < LABELS_SHARE ? this.#labels(name) : undefined,
      delayMs: this.#knows('due', name, 0.3) ? pick(seed, `${name} delay`, 1, 20_000) : undefined,
      deadlineMs: this.#knows('deadline', name, 0.3) ? pick(seed, `${name} deadline`, 2000, 90_000) : undefined,
      atMs: pick(seed, `${name} time`, 0, withinMs),
    }
  }

  #labels(name: string): Labels {
    const one = (label: string) => `${label} ${pick(this.#seed, `${name} ${label}`, 0, 1)}`
    return { tenant: one('tenant'), kind: one('kind') }
  }

  #job(name: string): string {
    const shape = oneOf(this.#seed, `${name} shape`, SHAPES)
    return this.#knows('steady', name, 0.5) ? steady(shape) : shape
  }

  #lane(name: string, share = LANES_SHARE): string | undefined {
    return chance(this.#seed, `${name} lane`) < share ? `lane-${pick(this.#seed, `${name} which lane`, 0, 1)}` : undefined
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
    const scale = chance(seed, 'large crowds') < LARGE_CROWDS_SHARE ? LARGE_CROWD : 1
    const size = pick(seed, `${name} size`, CROWD_MIN * scale, CROWD_MAX * scale)
    return {
      kind: 'crowd',
      name: `k${i}`,
      size,
      invoked: chance(seed, `${name} invoked`) < 0.65,
      ms: oneOf(seed, `${name} ms`, [null, 0, 5, 400]),
      spreadMs: oneOf(seed, `${name} spread`, [0, 0, 50, 200]),
      spoiler: chance(seed, `${name} spoils a crowd`) < 0.4 ? pick(seed, `${name} spoiler`, 0, size - 1) : null,
      tolerant: chance(seed, `${name} tolerant`) < 0.6,
    }
  }

  #knows(extra: (typeof EXTRAS)[number], name: string, share: number): boolean {
    return this.#extras.has(extra) && chance(this.#seed, `${name} ${extra}`) < share
  }
}
