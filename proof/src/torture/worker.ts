// One worker process of the torture: takes its setup, works until it is stopped or killed, and dies with its parent.
import type { RunRow } from '../../../packages/durably/dist/model/run.js'
import type { RunStore } from '../../../packages/durably/dist/store/runs.js'
import type { Store } from '../../../packages/durably/dist/store/store.js'
import type { WorkerEngine } from './engine-bundle.ts'
import { LedgerWriter } from './ledger.ts'
import { defineWorkload, type PlannedRun, type TriggerPlanned } from './workload.ts'

export interface WorkerSetup {
  name: string
  engineUrl: string
  file: string
  durability: 'full' | 'relaxed'
  ledgerFolder: string
  leaseMs: number
  pollingMs: number
  concurrency: number
  maxRecoveries: number
}

export type ToWorker =
  | { type: 'start'; setup: WorkerSetup }
  | { type: 'trigger'; plan: PlannedRun }
  /** Asks for an answer once every trigger before it has been dealt with. */
  | { type: 'flush' }
  | { type: 'stop' }

export type FromWorker = { type: 'ready' } | { type: 'flushed' }

interface Started {
  trigger: TriggerPlanned
  stop(): Promise<void>
}

let started: Promise<Started> | undefined
const triggering = new Set<Promise<void>>()

process.on('disconnect', () => process.exit())
process.on('message', async (message: ToWorker) => {
  if (message.type === 'start') {
    started = start(message.setup)
    await started
    return tell({ type: 'ready' })
  }
  const { trigger, stop } = await (started as Promise<Started>)
  switch (message.type) {
    case 'trigger': {
      // One that was not acknowledged is no promise.
      const done = trigger(message.plan).catch(() => {})
      triggering.add(done)
      return done.finally(() => triggering.delete(done))
    }
    case 'flush':
      await Promise.all(triggering)
      return tell({ type: 'flushed' })
    case 'stop':
      await stop()
      process.disconnect()
  }
})

function tell(message: FromWorker): void {
  process.send?.(message)
}

async function start({ name, engineUrl, file, durability, ledgerFolder, leaseMs, ...options }: WorkerSetup): Promise<Started> {
  const { createDurably, sqlStore, sqlite } = (await import(engineUrl)) as WorkerEngine
  const ledger = new LedgerWriter(ledgerFolder, name)
  const store = sqlStore({ dialect: sqlite(file, { durability }) })
  const { pollingMs, concurrency, maxRecoveries } = options
  const durably = createDurably({
    store: tellingGenerations(store),
    staleThreshold: leaseMs,
    heartbeatInterval: leaseMs / 3,
    pollingInterval: pollingMs,
    concurrency,
    maxRecoveries,
  })
  durably.on('step:complete', ({ runId, stepName, output }) => ledger.acknowledge({ kind: 'step', runId, step: stepName }, output))
  durably.on('run:complete', ({ runId }) => ledger.acknowledge({ kind: 'ended', runId, status: 'completed' }))
  durably.on('run:fail', ({ runId }) => ledger.acknowledge({ kind: 'ended', runId, status: 'failed' }))
  durably.on('run:cancel', ({ runId }) => ledger.acknowledge({ kind: 'ended', runId, status: 'cancelled' }))
  durably.on('worker:error', ({ cause }) => ledger.trouble(codeOf(cause)))
  const trigger = defineWorkload(durably, name, ledger)
  durably.start()
  return {
    trigger,
    async stop() {
      await durably.stop()
      await store.close()
    },
  }
}

function codeOf(error: unknown): string {
  const code: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined
  return typeof code === 'string' ? code : String(error)
}

/** A job function cannot ask for its generation. So each claim puts it into the payload, where every execution finds its own. */
function tellingGenerations(store: Store): Store {
  const tell = (claimed: readonly RunRow[]) =>
    claimed.map((run) => ({ ...run, payload: JSON.stringify({ ...JSON.parse(run.payload ?? '{}'), generation: run.leaseGeneration }) }))
  const runs: RunStore = {
    ...store.runs,
    claim: async (request) => tell(await store.runs.claim(request)),
    adopt: async (tokens) => tell(await store.runs.adopt(tokens)),
  }
  return { ...store, runs }
}
