// FaultyStore — a store whose calls fail when a test says so: before they take effect, after it, or without an answer.
// A call is named `chapter.verb`; an owner's write is named after what it writes: `apply.recordStep`.
import { DurablyError } from '../../src/model/errors.ts'
import type { ClusterStore } from '../../src/store/cluster/cluster.ts'
import type { EventStore } from '../../src/store/events.ts'
import type { LogStore } from '../../src/store/logs.ts'
import type { OwnerVerb, OwnerWrite } from '../../src/store/owner-write.ts'
import type { RunStore } from '../../src/store/runs.ts'
import type { SignalStore } from '../../src/store/signals.ts'
import type { StepStore } from '../../src/store/steps.ts'
import type { Store } from '../../src/store/store.ts'
import { gate } from './gate.ts'

export type CallName =
  | `runs.${Exclude<keyof RunStore, 'apply'>}`
  | `steps.${keyof StepStore}`
  | `events.${keyof EventStore}`
  | `logs.${keyof LogStore}`
  | `signals.${keyof SignalStore}`
  | `cluster.${keyof ClusterStore}`
  | `apply.${OwnerVerb['type']}`
  | 'transact'

interface Fault {
  /** `before`: nothing happened. `after`: it took effect, the reply is lost. `silent`: nothing happened, and no reply ever comes. */
  when: 'before' | 'after' | 'silent'
  /** How many calls go well first. Default 0. */
  skip?: number
  /** How many calls fail. Default 1. */
  times?: number
  error?: Error
  /** Which calls, by their first argument. Default: all. */
  only?: (asked: unknown) => boolean
}

type Call = (...args: unknown[]) => Promise<unknown>

export class Faults {
  /** Every call, in order, failed ones included. */
  readonly calls: CallName[] = []
  readonly #faults = new Map<CallName, Required<Fault>[]>()
  readonly #held = new Map<CallName, Promise<void>>()
  #dead = false

  over(inner: Store): Store {
    return {
      runs: this.#watched('runs', inner.runs),
      steps: this.#watched('steps', inner.steps),
      events: this.#watched('events', inner.events),
      logs: this.#watched('logs', inner.logs),
      signals: this.#watched('signals', inner.signals),
      ...(inner.cluster && { cluster: this.#watched('cluster', inner.cluster) }),
      eventLog: inner.eventLog,
      ...(inner.transact && { transact: this.#transact(inner.transact) }),
      migrate: () => inner.migrate(),
      close: () => inner.close(),
    }
  }

  fail(name: CallName, fault: Fault): void {
    const planned = {
      skip: 0,
      times: 1,
      only: () => true,
      error: new DurablyError('store_unavailable', `${name} failed on purpose`),
      ...fault,
    }
    this.#faults.set(name, [...(this.#faults.get(name) ?? []), planned])
  }

  heal(): void {
    this.#faults.clear()
  }

  /** Calls of this name wait, before they take effect, until the answer is called. */
  hold(name: CallName): () => void {
    const { opened, open } = gate()
    this.#held.set(name, opened)
    return () => {
      this.#held.delete(name)
      open()
    }
  }

  /** From now on nothing is answered and nothing takes effect: the process behind it was killed. */
  die(): void {
    this.#dead = true
  }

  count(name: CallName): number {
    return this.calls.filter((call) => call === name).length
  }

  #watched<T extends object>(chapter: string, inner: T): T {
    return new Proxy(inner, {
      get: (target, verb) => {
        const call = (Reflect.get(target, verb) as Call).bind(target)
        return (...args: unknown[]) => this.#pass(nameOf(chapter, String(verb), args), () => call(...args), args[0])
      },
    })
  }

  #transact(inner: NonNullable<Store['transact']>): NonNullable<Store['transact']> {
    return (body) => this.#pass('transact', () => inner(body)) as ReturnType<typeof inner>
  }

  async #pass(name: CallName, call: () => Promise<unknown>, asked?: unknown): Promise<unknown> {
    this.calls.push(name)
    const held = this.#held.get(name)
    if (held) await held
    const fault = this.#dead ? 'silent' : this.#next(name, asked)
    if (fault === 'silent') return new Promise(() => {})
    if (fault?.when === 'before') throw fault.error
    const answer = await call()
    if (this.#dead) return new Promise(() => {})
    if (fault) throw fault.error
    return answer
  }

  #next(name: CallName, asked: unknown): Required<Fault> | 'silent' | null {
    const [fault] = this.#faults.get(name) ?? []
    if (!fault?.only(asked)) return null
    if (fault.skip > 0) {
      fault.skip--
      return null
    }
    if (--fault.times === 0) this.#faults.get(name)?.shift()
    return fault.when === 'silent' ? 'silent' : fault
  }
}

function nameOf(chapter: string, verb: string, args: unknown[]): CallName {
  if (verb !== 'apply') return `${chapter}.${verb}` as CallName
  const [[write]] = args as [[OwnerWrite]]
  return `apply.${write.verb.type}`
}

/** For `setup({ wrap })`: the wrapper, and the faults that it will carry out. */
export function faulty(): { wrap: (store: Store) => Store; faults: Faults } {
  const faults = new Faults()
  return { wrap: (store) => faults.over(store), faults }
}
