// One worker process of the torture: takes its setup, works until it is stopped or killed, and dies with its parent.
import type { Durably, DurablyOptions } from '../../../packages/durably/dist/index.js'
import type { WorkerEngine } from './engine-bundle.ts'
import { generationInPayload } from './generation-in-payload.ts'
import { LATE_LOG_LINES, LedgerWriter, UNSETTLED } from './ledger.ts'
import { joinOutside } from './outside/join-outside.ts'
import type { PlannedOrder } from './outside/order-plan.ts'
import { settles } from './settles.ts'
import { dialectOf, type StoreAddress } from './store-address.ts'
import { defineWorkload, type PlannedRun } from './workload.ts'
import { type ClockFaults, wrongClock } from './wrong-clock.ts'

export interface WorkerSetup {
  name: string
  /** The same for all processes that take this seat one after the other. */
  seat: number
  workload: 'inside' | 'outside'
  /** An outsider executes nothing: it triggers, sends signals and follows runs. */
  role: 'worker' | 'outsider'
  engineUrl: string
  address: StoreAddress
  clock: ClockFaults
  ledgerFolder: string
  leaseMs: number
  pollingMs: number
  concurrency: number
  maxRecoveries: number
}

export type Plan = PlannedRun | PlannedOrder

export type ToWorker =
  | { type: 'start'; setup: WorkerSetup }
  | { type: 'trigger'; plan: Plan }
  /** Asks for an answer once every trigger before it has been dealt with. */
  | { type: 'flush' }
  /** No fault is under way any more. */
  | { type: 'calm' }
  | { type: 'stop' }

export type FromWorker = { type: 'ready' } | { type: 'flushed' }

/** What a process of a workload has to go by. */
export interface Joining {
  engine: WorkerEngine
  setup: WorkerSetup
  ledger: LedgerWriter
  options: DurablyOptions & Required<Pick<DurablyOptions, 'dialect'>>
}

/** An instance with the jobs of a workload, which has begun to do its part. */
export interface Joined {
  durably: Durably
  trigger(plan: Plan): Promise<void>
  /** Ends what it does besides the work. */
  leave(): void
}

interface Started {
  trigger(plan: Plan): Promise<void>
  calm(): void
  stop(): Promise<void>
  /** As a process does that is about to be shut down. */
  letGo(): Promise<void>
}

const JOIN: Record<WorkerSetup['workload'], (joining: Joining) => Joined> = { inside: joinInside, outside: joinOutside }

let started: Promise<Started> | undefined
const triggering = new Set<Promise<void>>()

process.on('disconnect', () => process.exit())
process.once('SIGTERM', async () => {
  await (await started)?.letGo()
  process.exit()
})
process.on('message', async (message: ToWorker) => {
  if (message.type === 'start') {
    started = start(message.setup)
    await started
    return send({ type: 'ready' })
  }
  const { trigger, calm, stop } = await (started as Promise<Started>)
  switch (message.type) {
    case 'trigger': {
      const done = trigger(message.plan)
      triggering.add(done)
      return done.finally(() => triggering.delete(done))
    }
    case 'flush':
      await Promise.all(triggering)
      return send({ type: 'flushed' })
    case 'calm':
      return calm()
    case 'stop':
      await stop()
      process.disconnect()
  }
})

function send(message: FromWorker): void {
  process.send?.(message)
}

async function start(setup: WorkerSetup): Promise<Started> {
  const { name, engineUrl, address, ledgerFolder, leaseMs, pollingMs, concurrency, maxRecoveries } = setup
  const engine = (await import(engineUrl)) as WorkerEngine
  const ledger = new LedgerWriter(ledgerFolder, name, { flushes: setup.workload === 'outside' })
  const clock = wrongClock(setup.clock, (offsetMs) => ledger.note({ kind: 'clock', offsetMs }))
  const options: Joining['options'] = {
    dialect: dialectOf(engine, address),
    env: clock.env,
    staleThreshold: leaseMs,
    heartbeatInterval: Math.round(leaseMs / 3),
    pollingInterval: pollingMs,
    concurrency,
    maxRecoveries,
  }
  const { durably, trigger, leave } = JOIN[setup.workload]({ engine, setup, ledger, options })
  durably.on('step:complete', ({ runId, stepName, output }) => ledger.acknowledge({ kind: 'step', runId, step: stepName }, output))
  durably.on('run:complete', ({ runId }) => ledger.acknowledge({ kind: 'ended', runId, status: 'completed' }))
  durably.on('run:fail', ({ runId }) => ledger.acknowledge({ kind: 'ended', runId, status: 'failed' }))
  durably.on('run:cancel', ({ runId }) => ledger.acknowledge({ kind: 'ended', runId, status: 'cancelled' }))
  durably.on('worker:error', ({ cause }) => ledger.trouble(troubleOf(cause)))
  if (setup.role === 'worker') durably.start()
  return {
    async trigger(plan) {
      // One that was not acknowledged is no promise; but it must have been refused.
      if (!(await settles(trigger(plan)))) ledger.trouble(UNSETTLED)
    },
    calm: () => clock.setRight(),
    async stop() {
      leave()
      await durably[Symbol.asyncDispose]()
    },
    async letGo() {
      leave()
      await durably.stop({ timeout: Math.round(Math.random() * leaseMs) })
    },
  }
}

function joinInside({ engine, setup, ledger, options }: Joining): Joined {
  const durably = engine.createDurably({ logger: false, ...options, dialect: generationInPayload(options.dialect) })
  const trigger = defineWorkload(durably, setup.name, ledger)
  return { durably, trigger: (plan) => trigger(plan as PlannedRun), leave: () => {} }
}

/** The code of an error. Log lines that a worker gives up when it stops, because the store did not take them in time, have a name of their own. */
function troubleOf(error: unknown): string {
  if (String(error).includes('the store took no log lines for')) return LATE_LOG_LINES
  const code: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined
  return typeof code === 'string' ? code : String(error)
}
