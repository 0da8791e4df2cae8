// Results — the figures of one run of the bench: what bench/results has as JSON, and tables and plots are made of.
import { execFileSync } from 'node:child_process'
import { cpus, loadavg, totalmem } from 'node:os'
import { median } from '../summary.ts'
import type { Contender } from './contender.ts'
import { CONTENDERS } from './contenders.ts'
import { peerVersion } from './peers.ts'
import { DURABILITY } from './place.ts'
import type { Measured } from './rounds.ts'
import type { Entry, Row } from './rows.ts'

export interface Result {
  key: string
  title: string
  version: string
  durability: string
  unit: '/s' | 'ms'
  /** The median of the rounds; absent if there is no figure. */
  median?: number
  least?: number
  most?: number
  rounds: number
  /** In some round time was up before all was done. */
  capped: boolean
  /** How many times as fast as the entry it is compared with; the median of the rounds. Above 1 is faster, also for latencies. */
  timesAsFast?: number
  failed?: string
}

export interface RowResult {
  id: string
  title: string
  results: Result[]
}

export interface Machine {
  at: string
  quick: boolean
  node: string
  postgres?: string
  cpu: string
  cores: number
  memoryGiB: number
  /** Of the last minute, before the first measurement and after the last: more than the bench's own 1 to 2 means other work. */
  load: [before: number, after: number]
  commit: string
}

export interface Results {
  machine: Machine
  seconds: number
  rows: RowResult[]
}

export function machine(quick: boolean): Machine {
  return {
    at: new Date().toISOString(),
    quick,
    node: process.version,
    cpu: cpus()[0]?.model ?? '',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    load: [load(), Number.NaN],
    commit: execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).trim(),
  }
}

export function load(): number {
  return Number((loadavg()[0] ?? 0).toFixed(1))
}

export function rowResults(rows: readonly Row[], all: readonly Measured[]): RowResult[] {
  return rows.map(({ id, title }) => {
    const entrants = all.filter((measured) => measured.row.id === id)
    return { id, title, results: entrants.map((measured) => result(measured, referenceOf(measured, entrants))) }
  })
}

function referenceOf({ entry }: Measured, entrants: readonly Measured[]): Measured | undefined {
  return entry.against ? entrants.find((other) => other.entry.key === entry.against) : entrants[0]
}

function result(measured: Measured, reference: Measured | undefined): Result {
  const { row, entry, figures, failed } = measured
  const contender: Contender = CONTENDERS[entry.contender]
  const values = figures.flatMap((figure) => (figure ? [figure.value] : []))
  const ratios = figures.flatMap((figure, round) => {
    const other = reference?.figures[round]?.value
    if (!other || !figure?.value) return []
    return [figure.unit === 'ms' ? other / figure.value : figure.value / other]
  })
  return {
    key: entry.key,
    title: titleOf(contender, row, entry),
    version: versionOf(contender),
    durability: contender.durability ?? DURABILITY[row.place],
    unit: row.workload.kind === 'latency' ? 'ms' : '/s',
    ...(values.length > 0 && { median: median(values), least: Math.min(...values), most: Math.max(...values) }),
    rounds: values.length,
    capped: figures.some((figure) => figure?.capped),
    ...(ratios.length > 0 && reference !== measured && { timesAsFast: median(ratios) }),
    ...(failed !== undefined && { failed }),
  }
}

function titleOf({ title }: Contender, { entries }: Row, { finished }: Entry): string {
  const isEmptyStore = finished === undefined && entries.some((entry) => entry.finished)
  if (finished) return `${title}, beside ${finished.toLocaleString('en')} ended runs`
  return isEmptyStore ? `${title}, empty` : title
}

function versionOf({ peers, node }: Contender): string {
  const [first] = peers
  const version = first ? (peerVersion(first) ?? 'not installed') : 'this repository'
  return node ? `${version}, Node ${peerVersion('node24') ?? '24 missing'}` : version
}
