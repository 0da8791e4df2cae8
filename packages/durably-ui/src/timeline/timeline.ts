// Timeline — who held a run when, and what each step did. Pure: the same facts give the same timeline.
//   T1. A turn is one worker's hold of the run, from its start to whatever ended it. A turn whose worker was lost ends when somebody took the
//       run back; after its last sign of life nobody knows what the worker did.
//   T2. A step that has begun and not ended belongs to the turn in which it began. If that turn ends otherwise, the step was interrupted.
import type { EndOfTurn, Fact } from './fact.ts'

export interface Timeline {
  /** The first and the last moment in it; null without facts. */
  readonly span: { readonly from: number; readonly to: number } | null
  readonly turns: readonly Turn[]
  /** In the order in which the job called them. */
  readonly steps: readonly StepLane[]
}

export interface Turn {
  readonly workerId: string | null
  readonly from: number
  /** Null while it lasts. */
  readonly to: number | null
  readonly end: EndOfTurn | null
  readonly error: string | null
  readonly lastSeen: number
  /** The worker that was lost before this turn took the run over. */
  readonly tookOverFrom: { readonly workerId: string | null } | null
}

export interface StepLane {
  readonly name: string
  readonly index: number
  readonly attempts: readonly StepAttempt[]
}

export type StepOutcome = 'completed' | 'failed' | 'trying again' | 'interrupted' | 'running'

export interface StepAttempt {
  readonly from: number
  readonly to: number | null
  readonly outcome: StepOutcome
  readonly error: string | null
  /** The turn in which it began, by its place in `turns`; -1 if that is not in the facts. */
  readonly turn: number
}

export function timelineOf(facts: readonly Fact[]): Timeline {
  const builder = new TimelineBuilder()
  for (const fact of facts) builder.add(fact)
  return builder.timeline()
}

type Open<T> = { -readonly [K in keyof T]: T[K] }
type OfKind<K extends Fact['kind']> = Extract<Fact, { kind: K }>
type OpenLane = { name: string; index: number; attempts: Open<StepAttempt>[] }

class TimelineBuilder {
  readonly #turns: Open<Turn>[] = []
  readonly #lanes = new Map<string, OpenLane>()
  #from = Number.POSITIVE_INFINITY
  #to = Number.NEGATIVE_INFINITY

  add(fact: Fact): void {
    this.#from = Math.min(this.#from, fact.at)
    this.#to = Math.max(this.#to, fact.at)
    const turn = this.#turns.at(-1)
    const current = turn?.to === null ? turn : undefined
    if (fact.kind === 'start') this.#start(fact, current)
    else if (fact.kind === 'end') this.#end(fact, current)
    else {
      if (current) current.lastSeen = Math.max(current.lastSeen, fact.at)
      if (fact.kind === 'step start') this.#laneOf(fact).attempts.push(this.#attempt(fact.at))
      if (fact.kind === 'step end') this.#stepEnd(fact)
      if (fact.kind === 'step fail') this.#stepFail(fact)
    }
  }

  timeline(): Timeline {
    return {
      span: this.#from > this.#to ? null : { from: this.#from, to: this.#to },
      turns: this.#turns,
      steps: [...this.#lanes.values()].sort((a, b) => a.index - b.index),
    }
  }

  #start({ at, workerId }: OfKind<'start'>, unended: Open<Turn> | undefined): void {
    if (unended) this.#end({ at, kind: 'end', how: 'lost' }, unended)
    const before = this.#turns.at(-1)
    const tookOverFrom = before?.end === 'lost' ? { workerId: before.workerId } : null
    this.#turns.push({ workerId, from: at, to: null, end: null, error: null, lastSeen: at, tookOverFrom })
  }

  #end({ at, how, error = null }: Omit<OfKind<'end'>, 'error'> & { error?: string | null }, turn: Open<Turn> | undefined): void {
    this.#interrupt(how === 'lost' && turn ? turn.lastSeen : at)
    if (!turn) return
    Object.assign(turn, { to: at, end: how, error })
    if (how !== 'lost') turn.lastSeen = at
  }

  #stepEnd(fact: OfKind<'step end'>): void {
    const attempt = this.#openAttempt(fact)
    if (attempt) return void Object.assign(attempt, { to: fact.at, outcome: 'completed' })
    // A wait has no start of its own.
    const from = fact.at - fact.tookMs
    this.#from = Math.min(this.#from, from)
    this.#laneOf(fact).attempts.push({ ...this.#attempt(from), to: fact.at, outcome: 'completed' })
  }

  #stepFail(fact: OfKind<'step fail'>): void {
    const ended = { to: fact.at, outcome: fact.willRetry ? 'trying again' : 'failed', error: fact.error } as const
    const attempt = this.#openAttempt(fact)
    if (attempt) Object.assign(attempt, ended)
    else this.#laneOf(fact).attempts.push({ ...this.#attempt(fact.at), ...ended })
  }

  /** T2. */
  #interrupt(at: number): void {
    for (const { attempts } of this.#lanes.values())
      for (const attempt of attempts)
        if (attempt.to === null) Object.assign(attempt, { to: Math.max(at, attempt.from), outcome: 'interrupted' })
  }

  #attempt(from: number): Open<StepAttempt> {
    return { from, to: null, outcome: 'running', error: null, turn: this.#turns.length - 1 }
  }

  #laneOf({ step, index }: { step: string; index: number }): OpenLane {
    const lane = this.#lanes.get(step) ?? { name: step, index, attempts: [] }
    this.#lanes.set(step, lane)
    return lane
  }

  #openAttempt(fact: { step: string; index: number }): Open<StepAttempt> | undefined {
    return this.#laneOf(fact).attempts.findLast(({ to }) => to === null)
  }
}
