// Answers — stands for the people and programs outside of a simulated world: it sends each run the scripted signals and decisions that the
// run waits for, and knows when a run waits for one that nobody scripted.
import type { Durably } from '../../durably.ts'
import { decidedStep } from '../../model/decision-name.ts'
import type { Decision } from '../../model/effect.ts'
import { hasCode } from '../../model/errors.ts'
import { isTerminal, type RunRow } from '../../model/run.ts'
import { decodeWaits, NEVER_MS } from '../../model/wait.ts'

export interface Script {
  signals?: Readonly<Record<string, unknown>> | undefined
  decisions?: Readonly<Record<string, Decision>> | undefined
}

/** What a run waits for: a signal, or a decision about a step. */
interface Question {
  runId: string
  option: 'signals' | 'decisions'
  name: string
}

export class Answers {
  readonly #script: Script
  readonly #sent = new Set<string>()

  constructor(script: Script) {
    this.#script = script
  }

  /** Sends what the runs wait for, through an instance that has their jobs. */
  async answer(runs: readonly RunRow[], open: () => Promise<Durably>): Promise<void> {
    const news = runs.flatMap((run) =>
      questionsOf(run).filter(({ wait, ...question }) => this.#isAnswered(question) && !this.#sent.has(wait)),
    )
    for (const { wait } of news) this.#sent.add(wait)
    for (const question of news) await this.#send(question, await open())
  }

  /** Why none of the runs that have not ended can ever go on; `null` while one can. `isKnown`: whether a worker has this job. */
  whyStuck(runs: readonly RunRow[], nowMs: number, isKnown: (jobName: string) => boolean): string | null {
    const open = runs.filter(({ status }) => !isTerminal(status))
    const isLost = ({ runAt, jobName }: RunRow) => runAt <= nowMs && !isKnown(jobName)
    if (!open.every((run) => run.status === 'pending' && (run.runAt >= NEVER_MS || isLost(run)))) return null
    const questions = open.flatMap((run) => questionsOf(run).map((question) => ({ ...question, jobName: run.jobName })))
    if (questions.some((question) => this.#isAnswered(question))) return null
    const reasons = [
      ...questions.map(({ jobName, option, name }) => `job ${JSON.stringify(jobName)} waits for ${unanswered(option, name)}`),
      ...open
        .filter(isLost)
        .map(({ jobName }) => `job ${JSON.stringify(jobName)} was triggered, but not defined on the instance passed in`),
    ]
    return reasons.length === 0 ? null : [...new Set(reasons)].join('; ')
  }

  #isAnswered({ option, name }: Question): boolean {
    return Object.hasOwn(this.#script[option] ?? {}, name)
  }

  async #send({ runId, option, name }: Question, durably: Durably): Promise<void> {
    const { signals = {}, decisions = {} } = this.#script
    const sent =
      option === 'signals' ? durably.signal(runId, name, signals[name]) : durably.decide(runId, name, decisions[name] as Decision)
    await sent.catch((error: unknown) => {
      // Somebody cancelled the run meanwhile.
      if (!hasCode(error, 'run_ended')) throw error
    })
  }
}

function questionsOf({ id: runId, status, waitingFor }: RunRow): (Question & { wait: string })[] {
  if (status !== 'pending') return []
  return decodeWaits(waitingFor)
    .filter(({ kind }) => kind === 'signal')
    .map(({ name }) => {
      const step = decidedStep(name)
      return { runId, option: step === undefined ? 'signals' : 'decisions', name: step ?? name, wait: JSON.stringify([runId, name]) }
    })
}

function unanswered(option: Question['option'], name: string): string {
  const key = /^[a-zA-Z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
  const what = option === 'signals' ? `signal ${JSON.stringify(name)}` : `a decision about step ${JSON.stringify(name)}`
  return `${what}, and no answer was given: pass ${option}: { ${key}: … }`
}
