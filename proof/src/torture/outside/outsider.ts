// Outsider — somebody with a process of their own, who sends the signals that orders wait for and follows some of them.
//   O1. It sends again, with the same key, until it gets the answer that the signal was accepted; some answers count as lost.
//   O2. Outsiders contradict each other: the first that was accepted counts. The successor of a dead one sends the same.
//   O3. It is cut off from what it follows again and again, and goes on after the last event that it saw.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Durably, Run, RunView } from '../../../../packages/durably/dist/index.js'
import type { WorkerEngine } from '../engine-bundle.ts'
import type { LedgerWriter } from '../ledger.ts'
import type { OutsideNote } from './notes.ts'

interface OutsiderDeps {
  engine: Pick<WorkerEngine, 'emptyRunView' | 'reduceRun'>
  durably: Durably
  ledger: LedgerWriter
  seat: number
}

const ROUND_MS = 150
const LOOKS_AT = 40
const SENDS = 0.15
/** Its answer counts as lost. */
const HEARS_NOT = 0.4
const FOLLOWED_MAX = 4
/** Events, until it is cut off. */
const CUT_AFTER_MAX = 25
/** The codes after which a sender does not send again. */
const FINAL_ANSWERS = new Set(['signal_taken', 'run_ended', 'run_not_found'])

export class Outsider {
  readonly #deps: OutsiderDeps
  readonly #settled = new Set<string>()
  readonly #followed = new Set<string>()
  readonly #left = new AbortController()

  constructor(deps: OutsiderDeps) {
    this.#deps = deps
  }

  async live(): Promise<void> {
    while (!this.#left.signal.aborted) {
      // The database may be away.
      await this.#round().catch(() => {})
      await sleep(Math.random() * 2 * ROUND_MS)
    }
  }

  leave(): void {
    this.#left.abort()
  }

  async #round(): Promise<void> {
    const { durably } = this.#deps
    const filter = { jobName: 'order', limit: LOOKS_AT } as const
    const open = [
      ...(await durably.getRuns({ ...filter, status: 'pending' })),
      ...(await durably.getRuns({ ...filter, status: 'running' })),
    ]
    for (const run of open.filter(({ idempotencyKey }) => idempotencyKey?.startsWith('order-'))) {
      if (!this.#settled.has(run.id) && Math.random() < SENDS) await this.#send(run)
      if (this.#followed.size < FOLLOWED_MAX && !this.#followed.has(run.id)) void this.#follow(run.id)
    }
  }

  async #send({ id: runId }: Run): Promise<void> {
    const { durably, seat } = this.#deps
    const key = `sent by ${seat}`
    const value = `${runId} approved by ${seat}`
    const answer = await durably.signal(runId, 'approval', value, { idempotencyKey: key }).then(
      () => 'accepted',
      (error) => String(Reflect.get(Object(error), 'code')),
    )
    this.#note({ kind: 'signal', runId, key, value, answer })
    if (FINAL_ANSWERS.has(answer) || (answer === 'accepted' && Math.random() >= HEARS_NOT)) this.#settled.add(runId)
  }

  async #follow(runId: string): Promise<void> {
    this.#followed.add(runId)
    let view: RunView = this.#deps.engine.emptyRunView
    while (!this.#left.signal.aborted && !isEnded(view)) {
      try {
        view = await this.#watch(runId, view)
      } catch {
        await sleep(ROUND_MS)
      }
      const { chunks = [], text = '', isDone = false } = view.streams.letter ?? {}
      if (chunks.length > 0) this.#note({ kind: 'sees', runId, text, isDone, output: view.output })
    }
    this.#followed.delete(runId)
  }

  /** Until it is cut off. */
  async #watch(runId: string, before: RunView): Promise<RunView> {
    const { durably, engine } = this.#deps
    let view = before
    let left = Math.ceil(Math.random() * CUT_AFTER_MAX)
    for await (const event of durably.subscribe(runId, { after: view.sequence, signal: this.#left.signal })) {
      view = engine.reduceRun(view, event)
      if (--left === 0) break
    }
    return view
  }

  #note(note: OutsideNote): void {
    this.#deps.ledger.note(note)
  }
}

function isEnded({ status }: RunView): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled'
}
