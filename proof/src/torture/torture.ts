// Torture — worker processes on one SQLite file that are killed and frozen at random, while steps last about as long as a
// lease. Then everything shall heal, and the invariants must hold.
//   T1. Whatever becomes of this process, its workers die with it and its files are removed.
//   T2. Only a worker that has begun to work is struck, and only while enough others do: every strike can hit a run, and runs
//       go on also where the machine is slow.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sqlite } from '../../../packages/durably/dist/sqlite/index.js'
import { type SqlStore, sqlStore } from '../../../packages/durably/dist/store/sql/sql-store.js'
import { RowAudit, type Violation } from '../../../packages/durably/dist/testing/invariants/index.js'
import { Client } from './client.ts'
import { Crew } from './crew.ts'
import { bundleEngine } from './engine-bundle.ts'
import { type Evidence, type Judged, judge, judgeSoFar } from './verdict.ts'

export interface TortureOptions {
  /** The folder of the compiled engine under test. */
  dist: string
  seconds: number
  workers?: number
  /** End as soon as a violation is seen. */
  untilCaught?: boolean
}

export interface TortureFigures {
  seconds: number
  workers: number
  leaseMs: number
  runs: number
  /** How they ended, failures by their reason. */
  endings: Record<string, number>
  stepExecutions: number
  stepsExecutedMoreThanOnce: number
  kills: number
  pauses: number
  reclaims: number
  healMs: number
  /** What workers reported that was no job's fault, by code. */
  troubles: Record<string, number>
}

export interface Tortured {
  figures: TortureFigures
  violations: Violation[]
}

/** What was written survives a kill without a flush to the disk; a flush per heartbeat would leave no time for the runs. */
const DURABILITY = 'relaxed'
const LEASE_MS = 300
const POLLING_MS = 50
const CONCURRENCY = 2
const WORKERS = 8
/** As the default; a run rarely meets so many deaths in a row. */
const MAX_RECOVERIES = 10

const KILLS_PER_S = 2.2
const PAUSES_PER_S = 1.4
/** Short enough to keep these rates also where timers are late. */
const STRIKE_EVERY_MS = 80
const PAUSE_LEASES_MIN = 0.3
const PAUSE_LEASES_MAX = 3
/** A frozen worker may hold the write lock; more of them would only make all others wait. */
const PAUSED_MAX = 2

/** What workers and clients may meet here: a lease lost, a cancel, a lock held by a frozen process, a run that somebody else retried. */
const EXPECTED_TROUBLES = new Set(['lease_lost', 'cancel_requested', 'store_busy', 'run_not_retryable'])

const ACT_EVERY_MS = 30
const LOOK_EVERY_MS = 250
const LOOK_RUNS = 300
const JUDGE_EVERY_MS = 1000
const HEAL_MS_MAX = 60_000

export async function torture({ dist, seconds, workers = WORKERS, untilCaught = false }: TortureOptions): Promise<Tortured> {
  const bundle = await bundleEngine(dist)
  const place = openPlace()
  let crew: Crew | undefined
  const clear = () => {
    crew?.killAll()
    bundle.remove()
    place.remove()
  }
  process.once('exit', clear)
  const open = () => sqlStore({ dialect: sqlite(place.file, { durability: DURABILITY }) })
  const stores = [open(), open()] as const
  try {
    const [store, auditStore] = stores
    await store.migrate()
    crew = new Crew(workers, {
      engineUrl: bundle.url,
      file: place.file,
      durability: DURABILITY,
      ledgerFolder: place.ledgerFolder,
      leaseMs: LEASE_MS,
      pollingMs: POLLING_MS,
      concurrency: CONCURRENCY,
      maxRecoveries: MAX_RECOVERIES,
    })
    const client = new Client({ store, crew, ledgerFolder: place.ledgerFolder, leaseMs: LEASE_MS, seed: Date.now() })
    const evidence: Evidence = {
      store: auditStore,
      ledgerFolder: place.ledgerFolder,
      diedAt: crew.diedAt,
      maxRecoveries: MAX_RECOVERIES,
    }
    const storm = new Storm({ crew, client, store, evidence, workers, seconds, untilCaught })
    const { healMs, stormMs } = await storm.run()
    const judged = await judge(evidence)
    const findings = [...crew.findings, ...unexpectedTroubles(judged)].map((what) => ({ invariant: 'process', runId: null, what }))
    const violations = [...storm.audit.violations, ...findings, ...judged.violations]
    return { figures: { ...figuresOf(judged, crew), workers, seconds: Math.round(stormMs / 1000), healMs }, violations }
  } finally {
    crew?.killAll()
    for (const store of stores) await store.close()
    clear()
    process.off('exit', clear)
  }
}

interface StormParts {
  crew: Crew
  client: Client
  store: SqlStore
  evidence: Evidence
  workers: number
  seconds: number
  untilCaught: boolean
}

class Storm {
  readonly #parts: StormParts
  readonly audit = new RowAudit()
  #began = 0
  #over = false

  constructor(parts: StormParts) {
    this.#parts = parts
  }

  async run(): Promise<{ stormMs: number; healMs: number }> {
    const { seconds, crew, client, untilCaught } = this.#parts
    await crew.recover()
    this.#began = performance.now()
    const end = setTimeout(() => this.#end(), seconds * 1000)
    await Promise.all([
      this.#every(ACT_EVERY_MS, () => client.act()),
      this.#every(STRIKE_EVERY_MS, async () => this.#strike()),
      this.#every(LOOK_EVERY_MS, () => this.#look()),
      untilCaught && this.#every(JUDGE_EVERY_MS, () => this.#judge()),
    ])
    clearTimeout(end)
    const stormMs = performance.now() - this.#began
    const healMs = await this.#heal()
    await crew.stop()
    return { stormMs, healMs }
  }

  #end(): void {
    this.#over = true
  }

  /** About so often, never twice at once. */
  async #every(ms: number, act: () => Promise<void>): Promise<void> {
    while (!this.#over) {
      await act()
      await sleep(ms * 2 * Math.random())
    }
  }

  #strike(): void {
    const { crew, workers } = this.#parts
    const { awake, figures } = crew
    const victim = awake[Math.floor(Math.random() * awake.length)]
    if (!victim || awake.length <= workers / 3) return
    const elapsedS = (performance.now() - this.#began) / 1000
    const killsDone = figures.kills / KILLS_PER_S
    const pausesDone = figures.pauses / PAUSES_PER_S
    if (Math.min(killsDone, pausesDone) >= elapsedS) return
    if (killsDone <= pausesDone) crew.kill(victim)
    else if (crew.paused < PAUSED_MAX) crew.pause(victim, pauseMs())
  }

  async #look(): Promise<void> {
    this.audit.look(await this.#parts.store.runs.list({ limit: LOOK_RUNS }), [], Date.now())
  }

  async #judge(): Promise<void> {
    if ((await judgeSoFar(this.#parts.evidence)).length > 0) this.#end()
  }

  /** No more strikes: everything must come to its end. Answers how long that took. */
  async #heal(): Promise<number> {
    const { crew, store } = this.#parts
    const began = performance.now()
    await crew.recover()
    while (performance.now() - began < HEAL_MS_MAX) {
      const open = [
        ...(await store.runs.list({ status: 'pending', limit: 1 })),
        ...(await store.runs.list({ status: 'running', limit: 1 })),
      ]
      if (open.length === 0) break
      await sleep(POLLING_MS)
    }
    return Math.round(performance.now() - began)
  }
}

function pauseMs(): number {
  return LEASE_MS * (PAUSE_LEASES_MIN + Math.random() * (PAUSE_LEASES_MAX - PAUSE_LEASES_MIN))
}

interface Place {
  file: string
  ledgerFolder: string
  remove(): void
}

function openPlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'durably-torture-'))
  const ledgerFolder = join(folder, 'ledger')
  mkdirSync(ledgerFolder)
  return { file: join(folder, 'durably.db'), ledgerFolder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

function unexpectedTroubles({ ledger: { troubles } }: Judged): string[] {
  return [...troubles].filter(([code]) => !EXPECTED_TROUBLES.has(code)).map(([code, times]) => `${code} was reported ${times} times`)
}

function figuresOf({ rows, ledger }: Judged, crew: Crew): Omit<TortureFigures, 'seconds' | 'healMs' | 'workers'> {
  const times = counted(ledger.effects.map(({ runId, step }) => `${runId}/${step}`))
  return {
    leaseMs: LEASE_MS,
    runs: rows.runs.length,
    endings: counted(rows.runs.map(({ status, reason }) => (reason === null ? status : `${status}: ${reason}`))),
    stepExecutions: ledger.effects.length,
    stepsExecutedMoreThanOnce: Object.values(times).filter((count) => count > 1).length,
    kills: crew.figures.kills,
    pauses: crew.figures.pauses,
    reclaims: rows.events.filter(({ type }) => type === 'run:reclaim').length,
    troubles: Object.fromEntries(ledger.troubles),
  }
}

function counted(names: string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}
