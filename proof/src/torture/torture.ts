// Torture — worker processes on one database that are killed and frozen at random, while steps last about as long as a lease;
// on Postgres the server and the line to it break as well. Then everything shall heal, and the invariants must hold.
//   T1. Whatever becomes of this process, its workers and its server die with it and its files are removed; only what shows how a
//       promise was broken stays.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Violation } from '../../../packages/durably/dist/testing/invariants/index.js'
import { Crew } from './crew.ts'
import { bundleEngine } from './engine-bundle.ts'
import { type FaultName, isStruck } from './faults.ts'
import { Incidents } from './incidents.ts'
import { patiently } from './patiently.ts'
import type { Place } from './place.ts'
import { openPostgresPlace } from './postgres-place.ts'
import { openSqlitePlace } from './sqlite-place.ts'
import { type PauseLeases, Storm } from './storm.ts'
import type { Evidence, Judged } from './verdict.ts'
import type { WorkerSetup } from './worker.ts'
import { type StoreName, WORKLOADS } from './workloads.ts'

export interface TortureOptions {
  store: StoreName
  workload: WorkerSetup['workload']
  /** The folder of the compiled engine under test. */
  dist: string
  seconds: number
  workers?: number
  /** Those that the workload is made for, unless given. */
  faults?: readonly FaultName[]
  /** End as soon as a violation is seen. */
  untilCaught?: boolean
  pauseLeases?: PauseLeases | undefined
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
  stops: number
  /** What befell the database and the line to it. */
  faults: Record<string, number>
  reclaims: number
  /** Given back by a worker that was stopped. */
  releases: number
  healMs: number
  /** What workers reported that was no job's fault, by code. */
  troubles: Record<string, number>
}

export interface Tortured {
  store: StoreName
  workload: WorkerSetup['workload']
  figures: TortureFigures
  violations: Violation[]
  /** The folder with the ledger and the incidents, kept where there are violations and nobody expected them. */
  evidence: string | null
}

const POLLING_MS = 50
/** Where nobody is struck a lease must not be lost, and a busy machine alone shall not be what loses it. */
const CALM_LEASE_MS = 6000
const WORKERS = 8
/** More deaths in a row than chance brings: a run that fails of them fails by our fault. */
const MAX_RECOVERIES = 30

export async function torture(options: TortureOptions): Promise<Tortured> {
  const { store, dist, seconds, workers = WORKERS, untilCaught = false } = options
  const workload = WORKLOADS[options.workload]
  const faults = new Set(options.faults ?? workload.faults)
  const bundle = await bundleEngine(dist)
  const folder = mkdtempSync(join(tmpdir(), 'durably-torture-'))
  const ledgerFolder = join(folder, 'ledger')
  mkdirSync(ledgerFolder)
  let isKept = false
  let crew: Crew | undefined
  const clear = () => {
    crew?.killAll()
    bundle.remove()
    // A killed worker may be about to write its last line.
    if (!isKept) rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  }
  process.once('exit', clear)
  let place: Place | undefined
  try {
    const placeOptions = { seconds, leaseMs: isStruck(faults) ? workload.leaseMs[store] : CALM_LEASE_MS }
    place = await (store === 'sqlite' ? openSqlitePlace(folder, placeOptions) : openPostgresPlace(placeOptions))
    await workload.prepare(place)
    const { leaseMs, concurrency } = place
    const incidents = new Incidents(join(folder, 'incidents'))
    crew = new Crew({
      roles: Array.from({ length: workers + workload.outsiders }, (_, seat) => (seat < workers ? 'worker' : 'outsider')),
      place,
      faults,
      incidents,
      setup: {
        workload: options.workload,
        engineUrl: bundle.url,
        ledgerFolder,
        leaseMs,
        pollingMs: POLLING_MS,
        concurrency,
        maxRecoveries: MAX_RECOVERIES,
      },
    })
    const people = workload.people({ place, crew, faults, ledgerFolder, seed: Date.now() })
    const evidence: Evidence = { place, faults, ledgerFolder, diedAt: crew.diedAt, maxRecoveries: MAX_RECOVERIES }
    const { judgeSoFar } = workload
    const storm = new Storm({
      crew,
      people,
      place,
      faults,
      incidents,
      evidence,
      judgeSoFar,
      seconds,
      untilCaught,
      pauseLeases: options.pauseLeases,
    })
    const { healMs, stormMs, caught } = await storm.run()
    if (caught.length > 0) crew.killAll()
    const judged = await patiently(() => workload.judge(evidence))
    const findings = [...crew.findings, ...unexpectedTroubles(judged, place)].map((what) => ({ invariant: 'process', runId: null, what }))
    const violations = caught.length > 0 ? caught : [...storm.audit.violations, ...findings, ...judged.violations]
    const figures = { ...figuresOf(judged, crew, place), workers, seconds: Math.round(stormMs / 1000), healMs }
    isKept = violations.length > 0 && !untilCaught
    return { store, workload: options.workload, figures, violations, evidence: isKept ? folder : null }
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
    kills: crew.figures.kill,
    pauses: crew.figures.freeze,
    stops: crew.figures.stop,
    faults: place.figures(),
    reclaims: rows.events.filter(({ type }) => type === 'run:reclaim').length,
    releases: rows.events.filter(({ type }) => type === 'run:release').length,
    troubles: Object.fromEntries(ledger.troubles),
  }
}

function counted(names: string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}
