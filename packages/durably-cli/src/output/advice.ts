// What to do about a run, with the commands that do it.
import type { Explanation } from '@coji/durably'
import type { Worker } from '@coji/durably/cluster'
import type { AdvisedCommands } from '../advised-commands.ts'
import { workersWith } from '../register.ts'

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
      const last = chain.at(-1)
      const holder = holderOf(explanation)
      if (holder === null && last && (cause === 'retry' || cause === 'step retry'))
        return { words: `${explanation.advice} This shows its attempts:`, commands: [commands.run(last.runId)] }
      if (holder === null || actor !== 'time' || remedy.until === null) return { words: explanation.advice, commands: [] }
      return {
        words: `It goes on by itself when run ${holder} has ended, not before ${remedy.until}. To free its key sooner, cancel that run, which ends it:`,
        commands: [commands.cancel(holder)],
      }
    }
    default:
      return { words: explanation.advice, commands: [] }
  }
}

/** The run that has the key that everything before it in the chain waits for. */
function holderOf({ chain }: Explanation): string | null {
  const wait = chain.find(({ cause }) => cause === 'key')?.waitingFor[0]
  return wait?.kind === 'key' ? wait.heldBy : null
}
