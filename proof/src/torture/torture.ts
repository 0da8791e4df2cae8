// Torture — worker processes on one database that are killed and frozen at random, while steps last about as long as a lease;
// on Postgres the server and the line to it break as well. Then everything shall heal, and the invariants must hold.
//   T1. Whatever becomes of this process, its workers and its server die with it and its files are removed.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Violation } from '../../../packages/durably/dist/testing/invariants/index.js'
import { Client } from './client.ts'
import { Crew } from './crew.ts'
import { bundleEngine } from './engine-bundle.ts'
import { patiently } from './patiently.ts'
import type { Place } from './place.ts'
import { openPostgresPlace } from './postgres-place.ts'
import { openSqlitePlace } from './sqlite-place.ts'
import { Storm } from './storm.ts'
import { type Evidence, type Judged, judge } from './verdict.ts'

export const STORES = ['sqlite', 'postgres'] as const

export interface TortureOptions {
  store: (typeof STORES)[number]
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
  /** What befell the database and the line to it. */
  faults: Record<string, number>
  reclaims: number
  healMs: number
  /** What workers reported that was no job's fault, by code. */
  troubles: Record<string, number>
}

export interface Tortured {
  store: TortureOptions['store']
  figures: TortureFigures
  violations: Violation[]
}

const POLLING_MS = 50
const WORKERS = 8
/** More deaths in a row than chance brings: a run that fails of them fails by our fault. */
const MAX_RECOVERIES = 30

export async function torture({ store, dist, seconds, workers = WORKERS, untilCaught = false }: TortureOptions): Promise<Tortured> {
  const bundle = await bundleEngine(dist)
  const folder = mkdtempSync(join(tmpdir(), 'durably-torture-'))
  const ledgerFolder = join(folder, 'ledger')
  mkdirSync(ledgerFolder)
  let crew: Crew | undefined
  const clear = () => {
    crew?.killAll()
    bundle.remove()
    // A killed worker may be about to write its last line.
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  }
  process.once('exit', clear)
  let place: Place | undefined
  try {
    place = store === 'sqlite' ? await openSqlitePlace(folder) : await openPostgresPlace(seconds)
    const { leaseMs, concurrency } = place
    crew = new Crew(workers, place, {
      engineUrl: bundle.url,
      ledgerFolder,
      leaseMs,
      pollingMs: POLLING_MS,
      concurrency,
      maxRecoveries: MAX_RECOVERIES,
    })
    const client = new Client({ store: place.client, crew, ledgerFolder, leaseMs, seed: Date.now() })
    const evidence: Evidence = { place, ledgerFolder, diedAt: crew.diedAt, maxRecoveries: MAX_RECOVERIES }
    const storm = new Storm({ crew, client, place, evidence, workers, seconds, untilCaught })
    const { healMs, stormMs } = await storm.run()
    const judged = await patiently(() => judge(evidence))
    const findings = [...crew.findings, ...unexpectedTroubles(judged, place)].map((what) => ({ invariant: 'process', runId: null, what }))
    const violations = [...storm.audit.violations, ...findings, ...judged.violations]
    const figures = { ...figuresOf(judged, crew, place), workers, seconds: Math.round(stormMs / 1000), healMs }
    return { store, figures, violations }
  } finally {
    crew?.killAll()
    await place?.close()
    clear()
    process.off('exit', clear)
  }
}

function unexpectedTroubles({ ledger: { troubles } }: Judged, { expectedTroubles }: Place): string[] {
  return [...troubles].filter(([code]) => !expectedTroubles.has(code)).map(([code, times]) => `${code} was reported ${times} times`)
}

function figuresOf({ rows, ledger }: Judged, crew: Crew, place: Place): Omit<TortureFigures, 'seconds' | 'healMs' | 'workers'> {
  const times = counted(ledger.effects.map(({ runId, step }) => `${runId}/${step}`))
  return {
    leaseMs: place.leaseMs,
    runs: rows.runs.length,
    endings: counted(rows.runs.map(({ status, reason }) => (reason === null ? status : `${status}: ${reason}`))),
    stepExecutions: ledger.effects.length,
    stepsExecutedMoreThanOnce: Object.values(times).filter((count) => count > 1).length,
    kills: crew.figures.kills,
    pauses: crew.figures.pauses,
    faults: place.figures(),
    reclaims: rows.events.filter(({ type }) => type === 'run:reclaim').length,
    troubles: Object.fromEntries(ledger.troubles),
  }
}

function counted(names: string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}
