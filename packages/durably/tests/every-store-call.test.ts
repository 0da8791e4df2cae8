// Enumerated, not random: a fixed job of three steps, its worker killed before and after each of its store calls, reads included;
// then also the worker that takes over, before and after each of its own.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createDurably } from '../src/durably.ts'
import { memoryStore } from '../src/memory.ts'
import { isTerminal } from '../src/model/run.ts'
import { Witness } from '../src/testing/crash-test/witness.ts'
import { checkInvariants, RowAudit, readRows } from '../src/testing/invariants/index.ts'
import { SimProcess, type SimWorld } from '../src/testing/simulator/sim-process.ts'
import { virtualEnv } from '../src/testing/virtual-env.ts'

const LEASE_MS = 30_000
const MAX_RECOVERIES = 10
const RESTART_MS = 500
const END_MS_MAX = 20 * LEASE_MS
const KILLS = ['crash before', 'crash after'] as const

/** The first entry is the first worker's, the second that of the one which takes over. */
type Kills = { call: number; kill: (typeof KILLS)[number] }[]

async function live(kills: Kills) {
  const base = virtualEnv()
  const store = memoryStore({ env: base })
  const witness = new Witness()
  const audit = new RowAudit()
  /** The store calls of each worker, until the run has ended. */
  const calls: string[][] = []
  let ended = false

  const world = (worker: number): SimWorld => ({
    seed: 1,
    base,
    store,
    leaseMs: LEASE_MS,
    plan: {
      ofCall(_, verb) {
        if (ended) return null
        const made = calls[worker]?.push(verb) ?? 0
        const kill = kills[worker]
        return kill?.call === made - 1 ? kill.kill : null
      },
    },
    async onApplied() {
      const { runs, steps } = await readRows(store)
      ended ||= runs.every((run) => isTerminal(run.status))
      audit.look(runs, steps, base.wall())
    },
    onDeath({ name }) {
      witness.ledger.processDied(name, base.mono())
      base.timer(RESTART_MS, start)
    },
  })

  function open(worker: number) {
    const process = new SimProcess(`w${worker}`, world(worker))
    // It looks when a lease ends, not every second: idle reads are alike.
    const options = { staleThreshold: LEASE_MS, pollingInterval: LEASE_MS, maxRecoveries: MAX_RECOVERIES }
    const durably = createDurably({ store: process.store, env: process.env, logger: false, ...options })
    const job = witness.over(durably, process).defineJob({ name: 'job', input: z.object({ n: z.number() }) }, async (ctx, { n }) => {
      const a = await ctx.run('a', () => n + 1)
      const b = await ctx.run('b', () => a * 2)
      return ctx.run('c', () => [a, b])
    })
    return { durably, job }
  }

  function start(): void {
    calls.push([])
    open(calls.length - 1).durably.start()
  }

  const client = createDurably({ store, env: base, logger: false })
  const { id } = await client.defineJob({ name: 'job', input: z.object({ n: z.number() }) }, () => {}).trigger({ n: 1 })
  start()
  while (!ended && base.mono() < END_MS_MAX) await base.advance(base.nextInMs() ?? END_MS_MAX)
  await base.advance(3 * LEASE_MS)

  const { ledger } = witness
  const rows = await readRows(store)
  const history = { ...rows, ledger, acknowledged: ledger.acknowledged, maxRecoveries: MAX_RECOVERIES, faultFree: kills.length === 0 }
  const run = await client.getRun(id)
  return {
    calls,
    end: { status: run?.status, output: run?.output, problems: [...audit.violations, ...checkInvariants(history)] },
    executions: ledger.effects.length,
  }
}

const SURVIVED = { status: 'completed', output: [2, 4], problems: [] }

const killsAt = (calls: readonly string[] = []) => calls.flatMap((_, call) => KILLS.map((kill) => ({ call, kill })))

describe('a job of three steps whose worker is killed before and after each of its store calls', () => {
  test('makes these calls when nobody is killed', async () => {
    const { calls, end, executions } = await live([])
    expect(calls).toStrictEqual([['runs.probe', 'runs.claim', 'runs.apply', 'runs.apply', 'runs.apply', 'runs.apply']])
    expect(end).toStrictEqual(SURVIVED)
    expect(executions).toBe(3)
  })

  test('survives every single death: 12 cases', async () => {
    const undisturbed = await live([])
    const cases = killsAt(undisturbed.calls[0])
    expect(cases).toHaveLength(12)
    const executions: number[] = []
    for (const kill of cases) {
      const world = await live([kill])
      expect({ kill, ...world.end }).toStrictEqual({ kill, ...SURVIVED })
      executions.push(world.executions)
    }
    // A death between a step and its record costs one execution more, every other death none.
    expect(executions).toStrictEqual([3, 3, 3, 3, 4, 3, 4, 3, 4, 3, 3, 3])
  })

  test('survives every second death, of the worker that takes over: 156 cases', async () => {
    const undisturbed = await live([])
    let cases = 0
    for (const first of killsAt(undisturbed.calls[0])) {
      const [, takingOver] = (await live([first])).calls
      for (const second of killsAt(takingOver)) {
        const { end } = await live([first, second])
        expect({ first, second, ...end }).toStrictEqual({ first, second, ...SURVIVED })
        cases++
      }
    }
    expect(cases).toBe(156)
  })
})
