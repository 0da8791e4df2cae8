// The archive: what is in files leaves the store, once, and only if the run is as it was when the file was written.
import { encodeStreams } from '../../model/stream.ts'
import type { ArchiveMove, ArchiveStore } from '../../store/archive.ts'
import { deepEqual, equal, ok } from '../assert.ts'
import { chapter, type World } from './chapter.ts'
import {
  attachmentsOf,
  complete,
  everything,
  fail,
  get,
  held,
  ids,
  inStatus,
  logLine,
  mustClaim,
  type Owner,
  recordStep,
  unchanged,
} from './world.ts'

const ALL = { after: '', before: '~', limit: 100 }

function archiveOf({ store }: World): ArchiveStore {
  ok(store.archive, 'a store with an archive')
  return store.archive
}

/** A run with five events and a log line that ended as failed. */
async function failed(world: World, jobName?: string): Promise<Owner> {
  const owner = await held(world, jobName === undefined ? {} : { jobName })
  const { events, logs } = attachmentsOf(owner)
  await owner.succeed(fail(), { events, logs })
  return owner
}

async function moveOf(world: World, { run: { id } }: Owner, move: Partial<ArchiveMove> = {}): Promise<ArchiveMove> {
  const { version, lastEventSequence } = await get(world, id)
  const lineIds = ids(await world.store.logs.list(id))
  const nextRef = `1-${lastEventSequence}-abc`
  return { runId: id, version, logRef: '', nextRef, firstSeq: 1, lastSeq: lastEventSequence, lineIds, ...move }
}

export const archiveChapter = chapter('archive', {
  async 'the runs that have rows are found by id, a page at a time'(world) {
    const archive = archiveOf(world)
    const owners = []
    for (const job of ['a', 'b', 'c', 'd']) owners.push(await failed(world, job))
    const [a = '', b = '', c = '', d = ''] = owners.map(({ run }) => run.id)
    deepEqual(await archive.candidates(ALL), [a, b, c, d], 'all')
    deepEqual(await archive.candidates({ ...ALL, limit: 2 }), [a, b], 'the first')
    deepEqual(await archive.candidates({ after: a, before: d, limit: 2 }), [b, c], 'those between')
    deepEqual(await archive.candidates({ ...ALL, after: d }), [], 'after the last')
    const owner = owners[1]
    ok(owner, 'the second')
    await archive.begin([b], 0)
    equal(await archive.move(await moveOf(world, owner)), 'moved', 'the move')
    deepEqual(await archive.candidates(ALL), [a, c, d], 'without the one whose rows are in a file')
    await world.store.logs.append([logLine(world, b)])
    deepEqual(await archive.candidates(ALL), [a, b, c, d], 'a log line is a row')
  },

  async 'only runs that ended long enough ago are begun'(world) {
    const archive = archiveOf(world)
    const old = await failed(world)
    await world.env.advance(1000)
    const young = await failed(world)
    const active = await inStatus(world, 'running', 'active')
    const pending = await inStatus(world, 'pending', 'pending')
    const all = [young.run.id, old.run.id, active.id, pending.id, world.env.id()]
    const { version } = await get(world, old.run.id)
    deepEqual(await archive.begin(all, 1000), [{ id: old.run.id, version, logRef: '' }], 'the old one')
    deepEqual(ids(await archive.begin(all, 0)), [old.run.id, young.run.id], 'by id, and again')
    equal((await get(world, old.run.id)).logRef, '', 'files may exist')
    equal((await get(world, active.id)).logRef, null, 'no files exist')
    deepEqual(await archive.begin([], 0), [], 'none')
  },

  async 'a failed run with an open stream is not begun, because a retry reads its events'(world) {
    const archive = archiveOf(world)
    const streams = encodeStreams([{ stepName: 'write', kept: 3, state: null }])
    const open = await held(world, { jobName: 'open' })
    await open.succeed(fail(), { streams })
    const closed = await held(world, { jobName: 'closed' })
    await closed.succeed(fail(), { streams: encodeStreams([]) })
    const done = await held(world, { jobName: 'done' })
    await done.succeed(complete(), { streams })
    deepEqual(ids(await archive.begin([open.run.id, closed.run.id, done.run.id], 0)), [closed.run.id, done.run.id], 'the others')
  },

  async 'a move removes what is in the file, and nothing else'(world) {
    const archive = archiveOf(world)
    const owner = await failed(world)
    const other = await failed(world, 'other')
    const { id } = owner.run
    const late = logLine(world, id)
    await archive.begin([id], 0)
    const move = await moveOf(world, owner, { nextRef: '1-3-abc', lastSeq: 3 })
    await world.store.logs.append([late])
    const before = await everything(world, id)
    await unchanged(world, other.run.id, async () => equal(await archive.move(move), 'moved', 'the move'))
    const after = await everything(world, id)
    deepEqual(
      after,
      { ...before, run: before.run && { ...before.run, logRef: '1-3-abc' }, events: before.events.slice(3), logs: [late] },
      'the run',
    )
    await unchanged(world, id, async () => equal(await archive.move(move), 'moved', 'the same move again'))
  },

  async 'a move of log lines alone leaves the events'(world) {
    const archive = archiveOf(world)
    const owner = await failed(world)
    await archive.begin([owner.run.id], 0)
    equal(await archive.move(await moveOf(world, owner, { nextRef: '1-0-abc', firstSeq: 1, lastSeq: 0 })), 'moved', 'the move')
    deepEqual(await world.store.logs.list(owner.run.id), [], 'lines')
    equal((await world.store.events.list(owner.run.id)).length, 5, 'events')
  },

  async 'a move is refused after a retry, after another move, and without a run'(world) {
    const archive = archiveOf(world)
    const owner = await failed(world)
    const { id } = owner.run
    await archive.begin([id], 0)
    const move = await moveOf(world, owner)
    await world.store.runs.retry(id)
    await unchanged(world, id, async () => equal(await archive.move(move), 'changed', 'after a retry'))
    await (await mustClaim(world)).succeed(fail())
    const first = await moveOf(world, owner, { nextRef: '1-3-abc', lastSeq: 3 })
    equal(await archive.move(first), 'moved', 'the first of two')
    await unchanged(world, id, async () => equal(await archive.move({ ...first, nextRef: '1-4-abd', lastSeq: 4 }), 'changed', 'the other'))
    equal(await archive.move({ ...move, runId: world.env.id() }), 'gone', 'without a run')
    const unbegun = await failed(world, 'unbegun')
    const early = await moveOf(world, unbegun)
    await unchanged(world, unbegun.run.id, async () => equal(await archive.move(early), 'changed', 'before begin'))
  },

  async 'an archived run that is retried goes on with the next sequence and keeps its file'(world) {
    const archive = archiveOf(world)
    const owner = await failed(world)
    const { id } = owner.run
    await archive.begin([id], 0)
    equal(await archive.move(await moveOf(world, owner)), 'moved', 'the move')
    await world.store.runs.retry(id)
    const again = await mustClaim(world)
    await again.succeed(recordStep(again))
    await again.succeed(complete())
    equal((await get(world, id)).logRef, '1-5-abc', 'the file')
    deepEqual(
      (await world.store.events.list(id)).map(({ seq }) => seq),
      [6, 7, 8, 9],
      'sequences',
    )
  },

  async 'a deleted run that may have files is remembered until they are removed'(world) {
    const archive = archiveOf(world)
    const [one, two, three] = [await failed(world, 'one'), await failed(world, 'two'), await failed(world, 'three')]
    await archive.begin([one.run.id, two.run.id], 0)
    await archive.move(await moveOf(world, two))
    deepEqual(await archive.removed(10), [], 'none was deleted')
    await world.store.runs.delete(one.run.id)
    await world.store.runs.delete(three.run.id)
    await world.store.runs.purge({ statuses: ['failed'], olderThanMs: 0, limit: 10 })
    deepEqual(await archive.removed(10), [one.run.id, two.run.id], 'those that were begun')
    deepEqual(await archive.removed(1), [one.run.id], 'the first')
    await archive.forget([one.run.id])
    await archive.forget([one.run.id])
    deepEqual(await archive.removed(10), [two.run.id], 'the other')
  },
})
