// What to do about a run, with the commands that do it.
import type { Explanation, Run } from '@coji/durably'
import type { Worker } from '@coji/durably/cluster'
import type { AdvisedCommands } from '../advised-commands.ts'
import type { LikelyJob } from '../misspelt-job.ts'
import { NONE_IN_REGISTER, workersWith } from '../register.ts'

export interface Advice {
  words: string
  /** To be pasted, one a line. */
  commands: string[]
}

export function adviceFor(explanation: Explanation, workers: readonly Worker[], commands: AdvisedCommands): Advice {
  const { remedy, actor, cause, chain } = explanation
  switch (remedy.do) {
    case 'signal':
      return { words: 'Somebody must send it:', commands: [commands.signal(remedy.runId, remedy.name)] }
    case 'decide':
      return { words: 'Somebody must find out, and say so with one of these:', commands: commands.decide(remedy.runId, remedy.step) }
    case 'retry':
      return { words: 'When its reason is gone, retry it:', commands: [commands.retry(remedy.runId)] }
    case 'start a worker':
      if (workersWith(workers, remedy.jobName).length > 0)
        return { words: 'A worker takes it when it has a free slot. If that takes too long, start more of them.', commands: [] }
      return {
        words: 'Unless a process that is not in the register executes it, start a worker:',
        commands: [commands.worker([remedy.jobName])],
      }
    case 'wait': {
      if (actor !== 'time') return { words: explanation.advice, commands: [] }
      const last = chain.at(-1)
      const unheard = workers.length === 0 ? ` ${NONE_IN_REGISTER}` : ''
      const holder = holderOf(explanation)
      if (holder === null && last && (cause === 'retry' || cause === 'step retry'))
        return { words: `${explanation.advice}${unheard} This shows its attempts:`, commands: [commands.run(last.runId)] }
      if (holder === null || remedy.until === null) return { words: explanation.advice + unheard, commands: [] }
      return {
        words: `It goes on by itself when run ${holder} has ended, not before ${remedy.until}.${unheard} To free its key sooner, cancel that run, which ends it:`,
        commands: [commands.cancel(holder)],
      }
    }
    default:
      return { words: explanation.advice, commands: [] }
  }
}

export interface Misspelt {
  run: Run
  likely: LikelyJob
}

/** Only a person knows whether the name is right. */
export function adviceForMisspelt({ run, likely }: Misspelt, commands: AdvisedCommands): Advice {
  const { id, jobName, parentRunId } = run
  const may = `The name ${JSON.stringify(jobName)} may be a misspelling of ${JSON.stringify(likely.name)}: ${likely.known}.`
  const start = commands.worker([jobName])
  // A run that is triggered in its place would not be a child.
  if (parentRunId !== null)
    return {
      words: `${may} If so, mend the job of run ${parentRunId}, which triggered it. If the name is right, start a worker:`,
      commands: [start],
    }
  return {
    words: `${may} If the name is right, start a worker, unless a process that is not in the register has the job. If it is misspelt, cancel the run and trigger the other job:`,
    commands: [
      `the name is right:  ${start}`,
      `it is misspelt:     ${commands.cancel(id)}`,
      `                    ${commands.trigger(likely.name, run)}`,
    ],
  }
}

/** The run that has the key that everything before it in the chain waits for. */
function holderOf({ chain }: Explanation): string | null {
  const wait = chain.find(({ cause }) => cause === 'key')?.waitingFor[0]
  return wait?.kind === 'key' ? wait.heldBy : null
}
