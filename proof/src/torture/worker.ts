// One worker process of the torture: takes its setup, works until it is stopped or killed, and dies with its parent.
import type { WorkerEngine } from './engine-bundle.ts'
import { LedgerWriter, UNSETTLED } from './ledger.ts'
import { settles } from './settles.ts'
import { dialectOf, type StoreAddress } from './store-address.ts'
import { tellingGenerations } from './telling-generations.ts'
import { defineWorkload, type PlannedRun, type TriggerPlanned } from './workload.ts'

export interface WorkerSetup {
  name: string
  engineUrl: string
  address: StoreAddress
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
      const done = trigger(message.plan)
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

async function start({ name, engineUrl, address, ledgerFolder, leaseMs, ...options }: WorkerSetup): Promise<Started> {
  const engine = (await import(engineUrl)) as WorkerEngine
  const ledger = new LedgerWriter(ledgerFolder, name)
  const { pollingMs, concurrency, maxRecoveries } = options
  const durably = engine.createDurably({
    dialect: tellingGenerations(dialectOf(engine, address)),
    staleThreshold: leaseMs,
    heartbeatInterval: Math.round(leaseMs / 3),
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
    async trigger(plan) {
      // One that was not acknowledged is no promise; but it must have been refused.
      if (!(await settles(trigger(plan)))) ledger.trouble(UNSETTLED)
    },
    async stop() {
      await durably[Symbol.asyncDispose]()
    },
  }
}

function codeOf(error: unknown): string {
  const code: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined
  return typeof code === 'string' ? code : String(error)
}
