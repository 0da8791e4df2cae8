// Outsiders — the people and programs around a simulated world: they send signals, decide about effects in doubt, and cancel runs that
// would wait for ever. Their connection to the store has the same faults; they repeat each request until it is answered.
import type { Durably } from '../../durably.ts'
import { jsonCodec } from '../../model/codec.ts'
import { DECISION_PREFIX, decidedStep } from '../../model/decision-name.ts'
import type { Decision } from '../../model/effect.ts'
import { hasCode, isPassing } from '../../model/errors.ts'
import { isTerminal, type RunRow } from '../../model/run.ts'
import { decodeWaits } from '../../model/wait.ts'
import type { ActorOption } from '../../store/cluster/audited.ts'
import type { Store } from '../../store/store.ts'
import { oneOf, pick } from './chance.ts'
import { callsOf, isHopeless } from './planned-run.ts'
import type { SimProcess } from './sim-process.ts'
import type { SimPayload } from './workload.ts'

const AGAIN_MS = 1000
const DECISION_MS_MAX = 15_000

interface OutsiderDeps {
  seed: number
  process: SimProcess
  durably: Durably
  /** The store without faults, to look at the rows. */
  store: Store
  /** Who they say they are. Default: nobody. */
  as?: ActorOption
}

export class Outsiders {
  readonly #deps: OutsiderDeps
  readonly #codec = jsonCodec()
  readonly #known = new Set<string>()
  /** By run: the names of the effects that somebody is going to decide about. */
  readonly #asked = new Map<string, Set<string>>()
  #thoughts = 0

  constructor(deps: OutsiderDeps) {
    this.#deps = deps
  }

  /** Called with all runs whenever something has changed. */
  see(runs: readonly RunRow[]): void {
    for (const run of runs) {
      // An ended run takes no signals and no decisions; if it is retried by hand, it waits for them again.
      if (isTerminal(run.status)) this.#forget(run.id)
      else if (!this.#known.has(run.id)) this.#meet(run)
      // To decode the waits of every run at every look would cost more than all that outsiders do.
      if (run.status !== 'pending' || !run.waitingFor?.includes(DECISION_PREFIX)) continue
      for (const { name } of decodeWaits(run.waitingFor)) if (decidedStep(name) !== undefined) this.#think(run.id, name)
    }
  }

  /**
   * Cancels runs that wait for ever: the topmost ancestor that has not completed or failed is cancelled (again, if it was before), and its
   * descendants must be cancelled with it.
   */
  giveUp(runs: readonly RunRow[]): void {
    const byId = new Map(runs.map((run) => [run.id, run]))
    for (const run of runs) {
      if (isTerminal(run.status) || !isHopeless(this.#payloadOf(run).steps)) continue
      let root = run
      for (let parent = byId.get(run.parentRunId ?? ''); parent; parent = byId.get(parent.parentRunId ?? '')) {
        // A run that completed or failed does not cancel its children.
        if (parent.status === 'completed' || parent.status === 'failed') break
        root = parent
      }
      void this.#deps.durably.cancel(root.id, this.#deps.as).catch(() => {})
    }
  }

  #payloadOf({ payload }: RunRow): SimPayload {
    return this.#codec.decode(payload) as SimPayload
  }

  #meet(run: RunRow): void {
    this.#known.add(run.id)
    for (const step of callsOf(this.#payloadOf(run).steps)) {
      if (step.kind !== 'wait') continue
      for (const [n, { afterMs, twice }] of step.senders.entries())
        this.#later(afterMs, async () => {
          const send = (again: boolean) => this.#send(run.id, step.name, n, again)
          if ((await send(false)) && twice) this.#later(AGAIN_MS, () => send(true))
        })
    }
  }

  /** Sends with a key, so that it may be sent again; a repetition after the answer has another value, which must not count. */
  #send(runId: string, name: string, sender: number, again: boolean): Promise<boolean> {
    const { durably, as } = this.#deps
    const options = { idempotencyKey: `sender ${sender}`, ...as }
    return this.#answered(() => durably.signal(runId, name, { name, sender, again }, options))
  }

  #think(runId: string, name: string): void {
    const asked = this.#asked.get(runId) ?? new Set()
    this.#asked.set(runId, asked)
    if (asked.has(name)) return
    asked.add(name)
    const thought = ++this.#thoughts
    this.#later(pick(this.#deps.seed, `thinks ${name} ${thought}`, 0, DECISION_MS_MAX), () => this.#decide(runId, name, thought))
  }

  #forget(runId: string): void {
    this.#known.delete(runId)
    this.#asked.delete(runId)
  }

  async #decide(runId: string, name: string, thought: number): Promise<void> {
    const { seed, durably, store, as } = this.#deps
    const step = decidedStep(name) ?? name
    const done = { done: { step, execution: -100 - thought } }
    const decision = oneOf<Decision>(seed, `decides ${name} ${thought}`, [
      'run again',
      'run again',
      done,
      { failed: `${step} was given up` },
    ])
    if (await this.#answered(() => durably.decide(runId, step, decision, as))) return
    const run = await store.runs.get(runId)
    const stillWaits = run && !isTerminal(run.status) && decodeWaits(run.waitingFor).some((wait) => wait.name === name)
    if (stillWaits) this.#later(AGAIN_MS, () => this.#decide(runId, name, thought))
    // The run goes on with something else; when it waits for this decision again, it is made again.
    else this.#asked.get(runId)?.delete(name)
  }

  /** True when the request was carried out, or another sender was first; false when it was refused. */
  async #answered(ask: () => Promise<void>): Promise<boolean> {
    const { env } = this.#deps.process
    for (;;) {
      try {
        await ask()
        return true
      } catch (error) {
        if (!isPassing(error)) return hasCode(error, 'signal_taken')
        await new Promise<void>((resolve) => void env.timer(AGAIN_MS, resolve))
      }
    }
  }

  #later(ms: number, act: () => Promise<unknown>): void {
    this.#deps.process.env.timer(ms, () => void act())
  }
}
