// Plays sequences of commands on a store. Knows no test runner.
//   npm run model            5,000 sequences per store instead of the 400 of `npm test`; of both, the libsql drivers get their share
//   FC_RUNS=20000            another number of them
//   FC_SEED=… FC_PATH=…      what a failure printed: exactly that sequence again
import * as fc from 'fast-check'
import type { Store } from '../../src/store/store.ts'
import { checkCoherence } from '../../src/testing/store-contract/coherence.ts'
import { type VirtualEnv, virtualEnv } from '../../src/testing/virtual-env.ts'
import { type StoreCommand, sequences } from './commands.ts'
import { historyOf } from './history.ts'
import { Matrix } from './matrix.ts'
import type { OpenStore, StoreUnderTest } from './stores.ts'
import { START_MS, World } from './world.ts'

const { FC_RUNS, FC_SEED, FC_PATH } = process.env

export const SEQUENCES = Number(FC_RUNS ?? 400)

export function sequencesOf({ share }: StoreUnderTest): number {
  return Math.ceil(SEQUENCES * share)
}

/** Fewer, or one alone, need not come by every cell of the transition table. */
export function coversAll(sequences: number): boolean {
  return sequences >= 400 && FC_PATH === undefined
}

export interface Played {
  commands: number
  seconds: number
  matrix: Matrix
}

/** Each sequence on one store, against the model. */
export async function playOn(store: StoreUnderTest): Promise<Played> {
  const matrix = new Matrix()
  let commands = 0
  const startedAt = performance.now()
  await withStores([store], async ([stage]) => {
    await forEachSequence(sequencesOf(store), async (sequence) => {
      if (stage) await play(sequence, stage, new World(stage.env, matrix, store.lookEvery))
      commands += sequence.length
    })
  })
  return { commands, seconds: (performance.now() - startedAt) / 1000, matrix }
}

/** Each sequence on every store; `compare` gets the history of each and that of the first, which is a coherent one. */
export async function playOnAll(
  stores: readonly StoreUnderTest[],
  numRuns: number,
  compare: (name: string, history: unknown, first: unknown) => void,
): Promise<void> {
  await withStores(stores, async (stages) => {
    await forEachSequence(numRuns, async (sequence) => {
      const histories: unknown[] = []
      for (const stage of stages) {
        const world = new World(stage.env, new Matrix(), Number.POSITIVE_INFINITY)
        const history = await play(sequence, stage, world, histories.length === 0 ? checkCoherence : undefined)
        histories.push(history)
        compare(stage.name, history, histories[0])
      }
    })
  })
}

interface Stage {
  name: string
  env: VirtualEnv
  opened: OpenStore
}

async function withStores(stores: readonly StoreUnderTest[], act: (stages: Stage[]) => Promise<void>): Promise<void> {
  const stages: Stage[] = []
  try {
    for (const { name, open } of stores) {
      const env = virtualEnv()
      stages.push({ name, env, opened: await open(env) })
    }
    await act(stages)
  } finally {
    for (const { opened } of stages) await opened.close()
  }
}

async function forEachSequence(numRuns: number, act: (sequence: readonly StoreCommand[]) => Promise<void>): Promise<void> {
  const replay = { ...(FC_SEED !== undefined && { seed: Number(FC_SEED) }), ...(FC_PATH !== undefined && { path: FC_PATH }) }
  await fc.assert(fc.asyncProperty(sequences, act), { ...replay, numRuns })
}

/** One sequence on an empty store, from the same moment on. */
async function play(
  sequence: readonly StoreCommand[],
  { env, opened }: Stage,
  world: World,
  inTheEnd?: (store: Store) => Promise<void>,
): Promise<unknown> {
  env.set(START_MS)
  const store = await opened.empty()
  try {
    await fc.asyncModelRun(() => ({ model: world, real: store }), sequence)
    const kept = await world.sameInTheEnd(store)
    await inTheEnd?.(store)
    return historyOf(kept)
  } catch (error) {
    throw new Error(`after\n${told(world)}`, { cause: error })
  }
}

/** The story of a failure, each answer in short. */
function told({ story }: World): string {
  return story
    .map(({ asked, expected }, i) => `  ${i + 1}. ${asked}${expected === undefined ? '' : ` → ${JSON.stringify(expected).slice(0, 300)}`}`)
    .join('\n')
}
