// Every status × every move of the table: allowed or refused exactly as it says.
import { isTerminal, RUN_STATUSES, type RunRow, type RunStatus } from '../../model/run.ts'
import { TRANSITION_RULES } from '../../model/transition-rules.ts'
import { canMove, type Move, TRANSITIONS } from '../../model/transitions.ts'
import type { EndingVerb } from '../../store/owner-write.ts'
import { deepEqual, equal } from '../assert.ts'
import type { Case, Chapter, World } from './chapter.ts'
import { assignNow, clusterOf, elect, workerEntry } from './cluster-world.ts'
import { claim, eventTypes, everything, get, inStatus, JOB, leasesEnd, OWNER_VERBS, Owner } from './world.ts'

interface Subject {
  id: string
  owner: Owner | null
}

/** How each move is attempted, whatever the status; true when the store says that it happened. */
const ATTEMPTS: Record<Move, (world: World, subject: Subject) => Promise<boolean>> = {
  claim: async (world) => (await claim(world)) !== null,
  complete: (world, subject) => ownerMove(world, subject, 'complete'),
  fail: (world, subject) => ownerMove(world, subject, 'fail'),
  release: (world, subject) => ownerMove(world, subject, 'release'),
  abandon: (world, subject) => ownerMove(world, subject, 'abandon'),
  retryLater: (world, subject) => ownerMove(world, subject, 'retryLater'),
  park: (world, subject) => ownerMove(world, subject, 'park'),
  reclaim: (world) => reap(world, 'reclaim', 10),
  reclaimCancelled: (world) => reap(world, 'reclaimCancelled', 10),
  reclaimTimedOut: (world) => reap(world, 'reclaimTimedOut', 10),
  reclaimCrashLoop: (world) => reap(world, 'reclaimCrashLoop', 0),
  confirm: (world) => reap(world, 'confirm', 10),
  assign: async (world, { id }) => {
    await clusterOf(world).attend(workerEntry())
    return assignNow(world, id)
  },
  orphan: async (world) => (await clusterOf(world).orphan({ epoch: await elect(world), reassignAfterMs: 0 }))?.length === 1,
  cancel: async (world, { id }) => (await world.store.runs.cancel(id))?.outcome === 'cancelled',
  retry: async (world, { id }) => (await world.store.runs.retry(id))?.outcome === 'retried',
}

async function ownerMove(world: World, { id, owner }: Subject, type: EndingVerb['type']): Promise<boolean> {
  if (owner) return (await owner.write(OWNER_VERBS[type](owner))).ok
  const stranger = new Owner(world, await get(world, id), 'never claimed')
  return (await stranger.write(OWNER_VERBS[type](stranger))).ok
}

async function reap({ store }: World, move: Move, maxRecoveries: number): Promise<boolean> {
  const reaped = await store.runs.reap({ maxRecoveries })
  return reaped.some((one) => one.move === move)
}

/** What must be true of a run for the guard of the move to hold. */
async function meetGuard(world: World, move: Move, { id }: Subject, status: RunStatus): Promise<void> {
  if (move === 'reclaimCancelled' && status === 'running') await world.store.runs.cancel(id)
  if (move === 'orphan') await assignedTo(world, id)
  if (TRANSITION_RULES[move].who === 'anyone') await leasesEnd(world)
}

/** To a worker that is gone. */
async function assignedTo(world: World, id: string): Promise<void> {
  const worker = workerEntry()
  await clusterOf(world).attend(worker)
  await assignNow(world, id)
  await clusterOf(world).leave(worker)
}

function caseOf(status: RunStatus, move: Move): Case {
  const allowed = canMove(move, status)
  return {
    name: allowed ? `${move} takes a ${status} run to ${TRANSITIONS[move].to}` : `${move} of a ${status} run is refused`,
    async run(world) {
      const run = move === 'reclaimTimedOut' ? { deadlineAt: world.env.wall() + 1 } : {}
      const subject = await inStatus(world, status, JOB, run, move === 'confirm' ? 60_000 : 0)
      await meetGuard(world, move, subject, status)
      const before = await everything(world, subject.id)
      equal(await ATTEMPTS[move](world, subject), allowed, 'it happened')
      if (allowed) await checkMoved(world, move, await get(world, subject.id), before.run)
      else if (move === 'cancel' && status === 'running') await checkOnlyAsked(world, await get(world, subject.id), before.run)
      else deepEqual(await everything(world, subject.id), before, 'nothing was written')
    },
  }
}

async function checkMoved(world: World, move: Move, row: RunRow, before: RunRow | null): Promise<void> {
  const { to, event } = TRANSITIONS[move]
  equal(row.status, to, 'status')
  equal(row.version, (before?.version ?? 0) + 1, 'version')
  equal(row.leaseGeneration, (before?.leaseGeneration ?? 0) + (move === 'claim' ? 1 : 0), 'generation')
  equal(row.runAt, before?.runAt, 'its place in the queue')
  equal(row.finishedAt !== null, isTerminal(to), 'has an end')
  equal(row.lastEventSequence, (before?.lastEventSequence ?? 0) + 1, 'event counter')
  equal((await eventTypes(world, row.id)).at(-1), event, 'event')
}

/** A running run is asked to stop: the one thing that is neither a move nor nothing. */
async function checkOnlyAsked(world: World, row: RunRow, before: RunRow | null): Promise<void> {
  deepEqual([row.status, row.version], ['running', (before?.version ?? 0) + 1], 'status and version')
  equal(row.cancelRequestedAt, world.env.wall(), 'the request')
  equal(row.lastEventSequence, before?.lastEventSequence, 'events')
}

const moves = Object.keys(TRANSITIONS) as Move[]

export const transitions: Chapter = {
  title: 'transitions',
  cases: RUN_STATUSES.flatMap((status) => moves.map((move) => caseOf(status, move))),
}
