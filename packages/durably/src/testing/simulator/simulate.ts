// Simulate — what one seed makes: a world of runs, and for some seeds a second one whose workers are a fleet, and worlds of schedules and of
// events. Each is judged by itself; what was seen is added up.

import { memoryStore } from '../../memory.ts'
import type { Env } from '../../model/env.ts'
import type { RunRow } from '../../model/run.ts'
import type { SqlStore } from '../../store/sql/sql-store.ts'
import type { Store } from '../../store/store.ts'
import type { Violation } from '../invariants/index.ts'
import type { CutLine } from './cut-line.ts'
import { type SimulatedInbox, simulateInbox } from './inbox-world.ts'
import type { SimFigures } from './judge.ts'
import { RunWorld } from './run-world.ts'
import { type SimulatedSchedules, simulateSchedules } from './schedule-world.ts'
import { fleetSeed, hasFleet, hasInbox, hasSchedules } from './world-kinds.ts'

export interface SimulateOptions {
  seed: number
  /** Names of faults that are left out. */
  without?: ReadonlySet<string>
  /** Records every store call with its answer, in order: two equal traces are two equal worlds. */
  keepTrace?: boolean
  /** A store on the clock of the world that this seed makes; the memory store unless given. */
  openStore?: (env: Env, seed: number) => Promise<OpenedStore>
  /** What else was wrong since it was asked last, such as a rejection that nobody heard (I74): asked when all worlds of the seed have ended. */
  seenBeside?: () => Promise<Violation[]>
}

export interface OpenedStore {
  store: Store
  /** Lists all runs, where there is a faster way than the store's own. */
  listRuns?: () => Promise<RunRow[]>
  /** Given where users can write in transactions of the same database, and such a transaction can lose its connection. */
  sql?: { db: SqlStore['db']; line: CutLine }
}

export interface Simulated {
  seed: number
  violations: Violation[]
  /** The faults that happened, in order. */
  faults: string[]
  /** Empty unless it was asked for. */
  trace: string[]
  figures: SimFigures
}

export async function simulate(options: SimulateOptions): Promise<Simulated> {
  const { seed, without = new Set(), keepTrace = false, openStore = inMemory, seenBeside = async () => [] } = options
  const world = { seed, without, keepTrace, openStore }
  let simulated = await new RunWorld(world).run()
  if (hasFleet(seed)) simulated = both(simulated, await new RunWorld({ ...world, seed: fleetSeed(seed) }, true).run())
  if (hasSchedules(seed)) simulated = beside(simulated, await simulateSchedules(world))
  if (hasInbox(seed)) simulated = beside(simulated, await simulateInbox(world))
  return { ...simulated, violations: [...simulated.violations, ...(await seenBeside())] }
}

/** Adds what was seen in a world of its own. */
function beside(simulated: Simulated, { violations, faults, ...figures }: SimulatedSchedules | SimulatedInbox): Simulated {
  return {
    ...simulated,
    violations: [...simulated.violations, ...violations],
    faults: [...simulated.faults, ...faults],
    figures: { ...simulated.figures, ...figures },
  }
}

/** What was seen in two worlds of one seed. */
function both(one: Simulated, other: Simulated): Simulated {
  const figures = { ...one.figures }
  for (const name of Object.keys(figures) as (keyof SimFigures)[]) figures[name] += other.figures[name]
  return {
    seed: one.seed,
    violations: [...one.violations, ...other.violations],
    faults: [...one.faults, ...other.faults],
    trace: [...one.trace, ...other.trace],
    figures,
  }
}

async function inMemory(env: Env): Promise<OpenedStore> {
  return { store: memoryStore({ env }) }
}
