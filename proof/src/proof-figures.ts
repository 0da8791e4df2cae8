// What each part of the proof found the last time that it ran, in proof/figures.json. docs/proof.md is written from it, so a part can be
// repeated by itself, and a proof that was interrupted goes on.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { REPO } from './engine-build.ts'
import type { RanOn } from './packed/runtimes.ts'
import type { HuntedGuard } from './proof-page/mutants-section.ts'
import type { TorturedTwice } from './proof-page/process-sections.ts'
import type { Simulation } from './proof-page/simulation-section.ts'
import type { StormReport } from './schedules/storm-report.ts'
import { freshRange } from './seed-range.ts'

export interface ProofFigures {
  memory: Simulation
  sqlite: Simulation
  mutants: HuntedGuard[]
  torture: TorturedTwice[]
  /** The same with the workload and the judge of an outsider. */
  outside: TorturedTwice[]
  storm: StormReport[]
  runtimes: RanOn[]
}

export type PartName = keyof ProofFigures
export const PARTS: readonly PartName[] = ['runtimes', 'memory', 'sqlite', 'mutants', 'torture', 'outside', 'storm']

/** Where a part ran. */
export interface Circumstances {
  /** Stands for the engine's source: its first fresh seed in memory, which follows from it. */
  source: number
  cores: number
  node: string
}

export type PartFigures<Name extends PartName> = Circumstances & { found: ProofFigures[Name] }
export type KeptFigures = { [Name in PartName]?: PartFigures<Name> }

const FIGURES = join(REPO, 'proof', 'figures.json')

export function circumstances(): Circumstances {
  return { source: freshRange('memory', 0).from, cores: availableParallelism(), node: process.version }
}

export function keptFigures(): KeptFigures {
  return existsSync(FIGURES) ? JSON.parse(readFileSync(FIGURES, 'utf8')) : {}
}

export function keepFigures(figures: KeptFigures): void {
  writeFileSync(FIGURES, `${JSON.stringify(figures, null, 1)}\n`)
}
