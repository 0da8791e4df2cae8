// SimLedger — what the functions of a simulated world really did. Kept outside the store, like the world itself.
import type { Durably } from '../../durably.ts'
import type { Acknowledged, Effect, JobExecution } from '../invariants/index.ts'
import type { SimProcess } from './sim-process.ts'

type Open = { endedAt: number | null; process: string }

export class SimLedger {
  readonly executions: (JobExecution & Open)[] = []
  readonly effects: (Effect & Open)[] = []
  readonly acknowledged: Acknowledged[] = []

  enterJob(process: string, runId: string, generation: number, now: number): JobExecution {
    const execution = { process, runId, generation, startedAt: now, endedAt: null }
    this.executions.push(execution)
    return execution
  }

  enterStep(process: string, runId: string, step: string, generation: number, now: number, toldToStop: boolean): Effect {
    const effect = { process, runId, step, generation, startedAt: now, endedAt: null, outcome: 'unfinished' as const, toldToStop }
    this.effects.push(effect)
    return effect
  }

  /** What a live process tells its listeners is a promise. */
  hear(durably: Durably, process: SimProcess): void {
    const promised = (acknowledged: Acknowledged) => process.alive && this.acknowledged.push(acknowledged)
    durably.on('step:complete', ({ runId, stepName }) => promised({ kind: 'step', runId, step: stepName }))
    durably.on('run:complete', ({ runId }) => promised({ kind: 'ended', runId, status: 'completed' }))
    durably.on('run:fail', ({ runId }) => promised({ kind: 'ended', runId, status: 'failed' }))
    durably.on('run:cancel', ({ runId }) => promised({ kind: 'ended', runId, status: 'cancelled' }))
  }

  /** The functions of a killed process ended with it. */
  processDied(process: string, now: number): void {
    for (const open of [...this.executions, ...this.effects]) if (open.process === process && open.endedAt === null) open.endedAt = now
  }
}
