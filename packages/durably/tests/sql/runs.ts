// Short forms of what the tests write.
import { type Env, iso, systemEnv } from '../../src/model/env.ts'
import type { StepRow } from '../../src/model/step.ts'
import type { Claim, OwnerWrite } from '../../src/store/owner-write.ts'
import type { NewRun } from '../../src/store/runs.ts'
import type { SqlStore } from '../../src/store/sql/sql-store.ts'

export const realEnv: Env = systemEnv()

export function newRun(run: Partial<NewRun> = {}): NewRun {
  const id = realEnv.id()
  const keys = {
    idempotencyKey: null,
    concurrencyKey: null,
    holdKey: false,
    labels: null,
    parentRunId: null,
    parentStep: null,
    parentToken: null,
  }
  const times = { delayMs: null, runAt: null, deadlineMs: null, deadlineAt: null, createdAt: iso(realEnv.wall()) }
  return { id, jobName: 'job', payload: '{}', ...keys, ...times, ...run }
}

export async function claimed(store: SqlStore, run: Partial<NewRun> = {}): Promise<Claim> {
  const { jobName } = newRun(run)
  await store.runs.create([newRun(run)])
  const [row] = await store.runs.claim({ jobNames: [jobName], tokens: [realEnv.id()], leaseMs: 60_000 })
  if (!row?.leaseOwner) throw new Error('nothing to claim')
  return { runId: row.id, generation: row.leaseGeneration, token: row.leaseOwner }
}

export function recordStep(claim: Claim, number: number, step: Partial<StepRow> = {}): OwnerWrite {
  const at = iso(realEnv.wall())
  return {
    claim,
    number,
    events: [{ type: 'step:start', payload: { generation: claim.generation, stepName: `step ${number}` }, createdAt: at }],
    logs: [],
    progress: null,
    streams: null,
    effects: null,
    verb: {
      type: 'recordStep',
      leaseMs: 60_000,
      step: {
        id: realEnv.id(),
        runId: claim.runId,
        name: `step ${number}`,
        index: number,
        status: 'completed',
        output: '{"ok":true}',
        error: null,
        failure: null,
        startedAt: at,
        completedAt: at,
        leaseGeneration: claim.generation,
        ...step,
      },
    },
  }
}
