// Races inside one call of the store, which the simulator takes as one moment, and the mutants that must lose them.

import type { World } from '../../../packages/durably/dist/testing/store-contract/chapter.js'
import {
  attachmentsOf,
  claim,
  complete,
  create,
  heartbeat,
  held,
  LEASE_MS,
  newRun,
  type Owner,
  recordStep,
  send,
} from '../../../packages/durably/dist/testing/store-contract/world.js'
import type { Engine } from '../engine-build.ts'
import type { Mutant } from '../mutants/mutant.ts'
import { type Race, type Raced, race } from './interleaving.ts'

/** A guard taken out of the engine, and where the database is a second one, out of it too. */
export interface RaceMutant extends Mutant {
  dropIndex?: string
}

export interface ContestedRace {
  name: string
  run(engine: Pick<Engine, 'sqlStore' | 'sqlite'>, dropIndex?: string): Promise<Raced>
  mutants: RaceMutant[]
}

const MAX_RECOVERIES = 10

/** Each statement becomes a transaction of its own. */
const IN_PIECES =
  'await (async (queries) => { const results = []; for (const query of queries) results.push(...(await session.write([query]))); return results })'

function inPieces(verb: string, file: string, call: string): Mutant {
  return {
    name: `${verb}-in-pieces`,
    guard: `${verb} is one transaction (S1)`,
    file,
    find: `await session.write(${call}`,
    replace: `${IN_PIECES}(${call}`,
  }
}

const CLAIM_IN_PIECES = inPieces('claim', 'store/sql/sqlite/claim.ts', '[claim(values)')
const APPLY_IN_PIECES = inPieces('apply', 'store/sql/sqlite/apply.ts', '[...queries')
const REAP_IN_PIECES = inPieces('reap', 'store/sql/sqlite/reap.ts', '(request.tokens')
const CANCEL_IN_PIECES = inPieces('cancel', 'store/sql/sqlite/cancel.ts', '[...before')
const RETRY_IN_PIECES = inPieces('retry', 'store/sql/sqlite/client-moves.ts', '[...before, retry')

const KEY_UNGUARDED: RaceMutant = {
  name: 'sql-key-unguarded',
  guard: 'one running run per concurrency key, by the pick and by its index',
  file: 'store/sql/shared/claim.ts',
  find: '(p.concurrency_key IS NULL OR p.concurrency_key NOT IN (',
  replace: '(p.concurrency_key IS NULL OR p.id IS NOT NULL OR p.concurrency_key NOT IN (',
  dropIndex: 'runs_running_key',
}

const IDEMPOTENCY_KEY_NOT_UNIQUE: RaceMutant = {
  name: 'sql-idempotency-key-not-unique',
  guard: 'one run per job and idempotency key, by its index',
  file: 'store/sql/migrations/0006-find-runs.ts',
  find: `CREATE UNIQUE INDEX \${t.index('runs_idempotent')}`,
  replace: `CREATE INDEX \${t.index('runs_idempotent')}`,
}

/** river#1302: whatever was once claimed is taken back, as if the ids came from an old look. */
const REAP_UNGUARDED: RaceMutant = {
  name: 'sql-reap-unguarded',
  guard: 'only a running run whose lease is over is taken back',
  file: 'store/sql/shared/reap.ts',
  find: `WHERE \${canMove('reclaim')} AND \${when}`,
  replace: `WHERE r.lease_generation > 0 OR \${when}`,
}

const REAP_THE_LIVING: RaceMutant = {
  name: 'sql-reap-the-living',
  guard: 'only a lease that is over is taken back',
  file: 'store/sql/shared/reap.ts',
  find: `WHERE \${canMove('reclaim')} AND \${when}`,
  replace: `WHERE \${canMove('reclaim')} AND (\${when} OR r.lease_generation > 0)`,
}

export const UNFENCED: Mutant = {
  name: 'sql-unfenced',
  guard: 'owner writes need generation and token (W1)',
  file: 'store/sql/shared/guards.ts',
  find: `return sql\`\${isHeld(p)} AND r.lease_writes`,
  replace: `return sql\`r.id = \${p('runId')} AND \${canMove('complete')} AND r.lease_writes`,
}

export const RACES: ContestedRace[] = [
  contested('two workers claim under one concurrency key', [KEY_UNGUARDED], {
    async arrange({ one }) {
      await create(one, { concurrencyKey: 'one at a time' })
      await create(one, { concurrencyKey: 'one at a time' })
    },
    first: (world) => claim(world),
    second: (world) => claim(world),
    fits: (first, second) => (first === null) !== (second === null),
  }),

  contested('a claim lasts longer than its lease, another worker takes over', [CLAIM_IN_PIECES], {
    arrange: ({ one }) => create(one),
    first: (world) => claim(world),
    second(world) {
      world.env.jump(LEASE_MS + 1000)
      return takeOver(world)
    },
    fits: (first, second) => first === null || second === null || second.claim.generation > first.claim.generation,
  }),

  contested('a reaper meets an owner that completes (river#1302)', [REAP_IN_PIECES, REAP_UNGUARDED], {
    arrange: ({ other }) => lateOwner(other),
    first: reap,
    second: (world, owner) => send(world, owner.next(complete(), attachmentsOf(owner))),
    fits: (reaped, completed) => completed.ok === (reaped.length === 0),
  }),

  contested('an owner that completes meets a reaper', [], {
    arrange: ({ one }) => lateOwner(one),
    first: (world, owner) => send(world, owner.next(complete(), attachmentsOf(owner))),
    second: reap,
    fits: (completed, reaped) => completed.ok === (reaped.length === 0),
  }),

  contested('a reaper meets an owner that is late with its heartbeat', [REAP_THE_LIVING], {
    arrange: ({ other }) => lateOwner(other),
    first: reap,
    second: (world, owner) => send(world, owner.next(heartbeat())),
    fits: (reaped, renewed) => renewed.ok === (reaped.length === 0),
  }),

  contested('a zombie records a step while its run is taken over (reliability §2.1)', [UNFENCED], {
    arrange: ({ one }) => lateOwner(one),
    first: (world, zombie) => send(world, zombie.next(recordStep(zombie), attachmentsOf(zombie))),
    second: takeOver,
    fits: (recorded, taken) => recorded.ok === (taken === null),
  }),

  contested('a zombie records the step that the next owner records', [], {
    arrange: ({ one }) => lateOwner(one),
    first: (world, zombie) => send(world, zombie.next(recordStep(zombie), attachmentsOf(zombie))),
    async second(world) {
      const owner = await takeOver(world)
      return owner && send(world, owner.next(recordStep(owner), attachmentsOf(owner)))
    },
    fits: (recorded, recordedNext) => recorded.ok !== (recordedNext?.ok ?? false),
  }),

  contested('an owner that records a step meets a reader', [APPLY_IN_PIECES], {
    arrange: ({ one }) => held(one),
    first: (world, owner) => send(world, owner.next(recordStep(owner), attachmentsOf(owner))),
    second: async ({ store }, { run: { id } }) => ({
      run: await store.runs.get(id),
      steps: await store.steps.list(id),
      events: await store.events.list(id),
    }),
    fits: (_, { run, steps, events }) => run?.currentStepIndex === steps.length && run.lastEventSequence === events.length,
  }),

  contested('a cancel meets a claim', [CANCEL_IN_PIECES], {
    arrange: ({ one }) => create(one),
    first: ({ store }, { id }) => store.runs.cancel(id),
    second: (world) => claim(world),
    fits: (cancel, claimed) => cancel?.outcome === (claimed ? 'requested' : 'cancelled'),
  }),

  contested('a failed run is retried twice', [RETRY_IN_PIECES], {
    async arrange({ one }) {
      const owner = await held(one)
      await owner.succeed({ type: 'fail', error: 'boom', failure: '{}', reason: 'output_invalid', failedStepName: '' })
      return owner.run
    },
    first: ({ store }, { id }) => store.runs.retry(id),
    second: ({ store }, { id }) => store.runs.retry(id),
    fits: (first, second) => (first?.outcome === 'retried') !== (second?.outcome === 'retried'),
  }),

  contested('one thing is triggered twice', [IDEMPOTENCY_KEY_NOT_UNIQUE], {
    arrange: async () => {},
    first: triggerOnce,
    second: triggerOnce,
    fits: (first, second) => first?.run.id === second?.run.id && first?.created !== second?.created,
  }),
]

function contested<State, First, Second>(name: string, mutants: RaceMutant[], contest: Race<State, First, Second>): ContestedRace {
  return { name, mutants, run: (engine, dropIndex) => race(engine, contest, dropIndex) }
}

/** An owner that was silent for longer than a lease. */
async function lateOwner(world: World): Promise<Owner> {
  const owner = await held(world)
  world.env.jump(LEASE_MS + 1000)
  return owner
}

function reap({ store }: World) {
  return store.runs.reap({ maxRecoveries: MAX_RECOVERIES })
}

async function takeOver(world: World): Promise<Owner | null> {
  await reap(world)
  return claim(world)
}

async function triggerOnce(world: World) {
  const [created] = await world.store.runs.create([newRun(world, { idempotencyKey: 'once' })])
  return created
}
