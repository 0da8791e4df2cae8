// Histories of runs that ended long ago are in files, and read as if they were in the database.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { packSegment } from '../../src/archive/segment.ts'
import { createDurably, type Durably } from '../../src/durably.ts'
import { memoryStore } from '../../src/memory.ts'
import type { Duration } from '../../src/model/duration.ts'
import type { DurablyError } from '../../src/model/errors.ts'
import type { RunLogEvent } from '../../src/model/event.ts'
import { withLogPersistence } from '../../src/plugins/index.ts'
import { rejects } from '../../src/testing/assert.ts'
import { MemoryFiles } from '../../src/testing/memory-files.ts'
import { complete, get, heartbeat, held, ids, logLine, recorded } from '../../src/testing/store-contract/world.ts'
import { listenTo, ofType } from './listening.ts'
import { setup, WORLDS, type World, type WorldName, type WorldOptions } from './world.ts'

const DAY = 86_400_000

type Overrides = Pick<WorldOptions, 'wrap'> & { after?: Duration }

function defineJob(durably: Durably) {
  durably.use(withLogPersistence())
  let fails = true
  const job = durably.defineJob(
    { name: 'job', input: z.object({ lines: z.number(), fails: z.boolean().optional() }) },
    async (ctx, input) => {
      for (let i = 0; i < input.lines; i++) ctx.log.info(`line ${i}`, { i })
      await ctx.run('step', () => 'a value')
      await ctx.stream('text', async (emit) => {
        emit('hello')
        emit(' world')
        return 'said'
      })
      if (input.fails && fails) {
        fails = false
        throw new Error('no')
      }
      return input.lines
    },
  )
  return job
}

async function archivingWorld(world: WorldName, files = new MemoryFiles(), { wrap, after = '30d' }: Overrides = {}) {
  const place = await setup(world, { archive: { files, after }, ...(wrap && { wrap }) })
  return { ...place, files, job: defineJob(place.durably) }
}

async function history(durably: Durably, id: string, after = 0): Promise<RunLogEvent[]> {
  const events: RunLogEvent[] = []
  for await (const event of durably.subscribe(id, { after })) events.push(event)
  return events
}

/** Executes what is due, and archives when a month has gone by. */
async function aMonthLater({ durably, env, within }: Pick<World, 'durably' | 'env' | 'within'>): Promise<void> {
  await env.advance(31 * DAY)
  await within(60_000, durably.processUntilIdle())
}

/** A store that lets something happen before it looks for the lines of events. */
function beforeFindingLines(happens: () => Promise<void>): NonNullable<WorldOptions['wrap']> {
  return (store) => ({
    ...store,
    logs: {
      append: (lines) => store.logs.append(lines),
      list: (runId, page) => store.logs.list(runId, page),
      async find(runId, ids) {
        await happens()
        return store.logs.find(runId, ids)
      },
    },
  })
}

describe.each(WORLDS)('an archive on %s', (name) => {
  test('what was recorded is read from files exactly as from the database, from any cursor', async () => {
    const world = await archivingWorld(name)
    const { durably, store, job, soon, files } = world
    const { id } = await job.trigger({ lines: 5 })
    await soon(durably.processUntilIdle())
    const [told, logs, steps, run] = [
      await soon(history(durably, id)),
      await durably.getLogs(id),
      await durably.getSteps(id),
      await durably.getRun(id),
    ]
    expect(told.map(({ type }) => type)).toEqual(expect.arrayContaining(['log:write', 'step:complete', 'stream:chunk', 'run:complete']))
    expect(logs.length).toBeGreaterThan(5)
    expect(files.files.size).toBe(0)

    await aMonthLater(world)
    expect(await store.events.list(id)).toEqual([])
    expect(await store.logs.list(id)).toEqual([])
    expect(files.files.size).toBeGreaterThan(0)
    for (const fileName of files.files.keys())
      expect(fileName).toMatch(new RegExp(`^${id.slice(0, 5)}/${id}/\\d+-\\d+-[0-9a-zA-Z-]+\\.ndjson\\.gz$`))
    expect(await soon(history(durably, id))).toEqual(told)
    for (const { sequence } of told)
      expect(await soon(history(durably, id, sequence))).toEqual(told.filter((event) => event.sequence > sequence))
    expect(await durably.getLogs(id)).toEqual(logs)
    for (const [i, { id: cursor }] of logs.entries())
      expect(await durably.getLogs(id, { cursor, limit: 2 })).toEqual(logs.slice(i + 1, i + 3))
    expect(await durably.getSteps(id)).toEqual(steps)
    expect(await durably.getRun(id)).toEqual(run)
  })

  test('a run that is retried after it was archived has one history without a gap, also when it is archived again', async () => {
    const world = await archivingWorld(name)
    const { durably, store, job, soon, files } = world
    const { id } = await job.trigger({ lines: 2, fails: true })
    await soon(durably.processUntilIdle())
    const failed = await soon(history(durably, id))
    const lines = await durably.getLogs(id)
    await aMonthLater(world)
    const first = files.files.size
    await durably.retry(id)
    await soon(durably.processUntilIdle())
    const all = await soon(history(durably, id))
    expect(all.slice(0, failed.length)).toEqual(failed)
    expect(all.slice(failed.length)).toMatchObject(
      [{ type: 'run:retry', sequence: failed.length + 1 }, {}, {}, {}, {}, {}].slice(0, all.length - failed.length),
    )
    const sequences = all.map(({ sequence }) => sequence)
    expect(sequences.slice(failed.length - 1)).toEqual(
      sequences.slice(failed.length - 1).map((_, i) => (sequences[failed.length - 1] ?? 0) + i),
    )
    const allLines = await durably.getLogs(id)
    expect(allLines.slice(0, lines.length)).toEqual(lines)

    await aMonthLater(world)
    expect(await store.events.list(id)).toEqual([])
    expect(files.files.size).toBeGreaterThan(first)
    expect(await soon(history(durably, id))).toEqual(all)
    for (const cursor of sequences)
      expect(await soon(history(durably, id, cursor))).toEqual(all.filter(({ sequence }) => sequence > cursor))
    expect(await durably.getLogs(id)).toEqual(allLines)
  })

  test('only runs that ended long enough ago are archived, by a started worker too, and none that waits', async () => {
    const world = await archivingWorld(name, new MemoryFiles(), { after: '1h' })
    const { durably, store, env, job, files } = world
    const waiting = await durably.defineJob({ name: 'waits', input: z.null() }, (ctx) => ctx.waitFor('signal')).trigger(null)
    const { id } = await job.trigger({ lines: 1 })
    durably.start()
    await env.advance(3_600_000 - 120_000)
    expect(files.files.size).toBe(0)
    await env.advance(240_000)
    expect(await store.events.list(id)).toEqual([])
    expect(await store.events.list(waiting.id)).not.toEqual([])
  })

  test('the files of a deleted or purged run are removed', async () => {
    const world = await archivingWorld(name)
    const { durably, job, soon, files, env, within } = world
    const [one, two, three] = [await job.trigger({ lines: 1 }), await job.trigger({ lines: 1 }), await job.trigger({ lines: 1 })]
    await soon(durably.processUntilIdle())
    await aMonthLater(world)
    expect(new Set([...files.files.keys()].map((file) => file.split('/')[1]))).toEqual(new Set([one.id, two.id, three.id]))
    await durably.deleteRun(one.id)
    await durably.purge({ olderThan: '1d', limit: 1 })
    await env.advance(120_000)
    await within(60_000, durably.processUntilIdle())
    expect(new Set([...files.files.keys()].map((file) => file.split('/')[1]))).toEqual(new Set([three.id]))
  })

  test('files of a deleted run that cannot be removed are reported, hold up nothing else, and are removed when they can', async () => {
    const { durably, store, env, job, files } = await archivingWorld(name, new MemoryFiles(), { after: '1h' })
    const events = listenTo(durably)
    const [locked, free] = [(await job.trigger({ lines: 1 })).id, (await job.trigger({ lines: 1 })).id]
    durably.start()
    await env.advance('2h')
    const hasFiles = (id: string) => [...files.files.keys()].some((file) => file.includes(id))
    expect([hasFiles(locked), hasFiles(free)]).toEqual([true, true])
    const { remove } = files
    files.remove = async (prefix) => {
      if (prefix.includes(locked)) throw new Error('AccessDenied: the object is locked')
      await remove.call(files, prefix)
    }
    await durably.deleteRun(locked)
    await durably.deleteRun(free)
    const { id } = await job.trigger({ lines: 1 })
    await env.advance('3h')
    expect([hasFiles(locked), hasFiles(free), hasFiles(id)]).toEqual([true, false, true])
    expect(await store.events.list(id)).toEqual([])
    expect(ofType(events, 'worker:error')).toMatchObject([{ runId: locked, cause: { code: 'archive_unavailable' } }])
    files.remove = remove
    await env.advance('3h')
    expect(hasFiles(locked)).toBe(false)
  })

  test('a file that is gone or damaged is said, with the first event that is left', async () => {
    const world = await archivingWorld(name)
    const { durably, another, job, soon, files } = world
    const { id } = await job.trigger({ lines: 1, fails: true })
    await soon(durably.processUntilIdle())
    const { length } = await soon(history(durably, id))
    await aMonthLater(world)
    await durably.retry(id)
    await soon(durably.processUntilIdle())
    const all = await soon(history(durably, id))
    const kept = new Map(files.files)
    const broken: [string, (bytes: Uint8Array) => Promise<Uint8Array | null>][] = [
      ['gone', async () => null],
      ['cut off', async (bytes) => bytes.slice(0, -20)],
      ['empty', async () => new Uint8Array()],
      ['not gzipped', async () => new TextEncoder().encode('{"event":{}}\n')],
      ['of something else', async () => (await packSegment({ events: [], lines: [] }, 0)).bytes],
    ]
    for (const [what, change] of broken) {
      for (const [file, bytes] of kept) {
        const changed = await change(bytes)
        if (changed) files.files.set(file, changed)
        else files.files.delete(file)
      }
      const reader = another({ archive: { files, after: '30d' } })
      const error = await rejects(soon(history(reader, id)), 'archive_gone', what)
      expect(error).toMatchObject({ runId: id, firstSequence: all[length]?.sequence })
      expect(error.message).toContain(`the first event after them is ${error.firstSequence}`)
      await rejects(reader.getLogs(id), 'archive_gone', what)
      expect(await soon(history(reader, id, (error.firstSequence ?? 0) - 1))).toEqual(all.slice(length))
      for (const [file, bytes] of kept) files.files.set(file, bytes)
    }
    expect(await soon(history(durably, id))).toEqual(all)
  })

  test('files that cannot be written are reported once, nothing is deleted, and it goes on when they can', async () => {
    const world = await archivingWorld(name, new MemoryFiles(), { after: '1h' })
    const { durably, store, env, job, files } = world
    const events = listenTo(durably)
    const ids = [(await job.trigger({ lines: 1 })).id, (await job.trigger({ lines: 1 })).id]
    const { write } = files
    files.write = () => Promise.reject(new Error('EACCES: permission denied'))
    durably.start()
    await env.advance('2h')
    expect(ofType(events, 'worker:error').map(({ error, cause }) => [error, (cause as DurablyError).code])).toEqual([
      [expect.stringContaining('EACCES: permission denied'), 'archive_unavailable'],
    ])
    for (const id of ids) expect((await store.events.list(id)).length).toBeGreaterThan(0)
    files.write = write
    await env.advance(600_000)
    for (const id of ids) expect(await store.events.list(id)).toEqual([])
    expect(ofType(events, 'worker:error')).toHaveLength(1)
  })

  test('files that cannot be read for a while make a subscription wait, and getLogs reject', async () => {
    const world = await archivingWorld(name)
    const { durably, job, soon, within, files } = world
    const { id } = await job.trigger({ lines: 1 })
    await soon(durably.processUntilIdle())
    const told = await soon(history(durably, id))
    await aMonthLater(world)
    const { read } = files
    files.read = () => Promise.reject(new Error('ECONNREFUSED'))
    await rejects(durably.getLogs(id), 'archive_unavailable', 'getLogs')
    const later = history(durably, id)
    await world.env.advance(1000)
    files.read = read
    expect(await within(60_000, later)).toEqual(told)
  })

  test('an instance without the option says that it needs it', async () => {
    const world = await archivingWorld(name)
    const { durably, job, soon, another } = world
    const { id } = await job.trigger({ lines: 1 })
    await soon(durably.processUntilIdle())
    await aMonthLater(world)
    const error = await rejects(soon(history(another(), id)), 'invalid_config', 'subscribe')
    expect(error.message).toContain('createDurably needs the option archive')
  })

  test('a subscriber that is in the middle when the rows are moved misses nothing', async () => {
    const world = await archivingWorld(name)
    const { durably, job, soon } = world
    const { id } = await job.trigger({ lines: 250 })
    await soon(durably.processUntilIdle())
    const told = await soon(history(durably, id))
    expect(told.length).toBeGreaterThan(200)
    const events: RunLogEvent[] = []
    const reader = durably.subscribe(id).getReader()
    for (let i = 0; i < 120; i++) events.push((await soon(reader.read())).value as RunLogEvent)
    await aMonthLater(world)
    const read = () => world.within(60_000, reader.read())
    for (let next = await read(); !next.done; next = await read()) events.push(next.value)
    expect(events).toEqual(told)
  })

  test('log lines that are moved between the event and its line are read from the file', async () => {
    let moved = async () => {}
    const wrap = beforeFindingLines(() => moved())
    const world = await archivingWorld(name, new MemoryFiles(), { wrap })
    const { durably, another, job, soon, env, within, files } = world
    const { id } = await job.trigger({ lines: 3 })
    await soon(durably.processUntilIdle())
    const told = await soon(history(durably, id))
    const other = another({ archive: { files, after: '30d' } })
    await env.advance(31 * DAY)
    moved = async () => {
      moved = async () => {}
      await other.processUntilIdle()
    }
    expect(await within(60_000, history(durably, id))).toEqual(told)
    expect(files.files.size).toBeGreaterThan(0)
  })

  test('a process that is overtaken while it reads does not spoil the file of the other', async () => {
    let overtake = async () => {}
    const wrap = beforeFindingLines(() => overtake())
    const world = await archivingWorld(name)
    const { durably, another, job, soon, env, within, files } = world
    const { id } = await job.trigger({ lines: 3 })
    await soon(durably.processUntilIdle())
    const [told, lines] = [await soon(history(durably, id)), await durably.getLogs(id)]
    await env.advance(31 * DAY)
    const slow = another({ archive: { files, after: '30d' }, wrap })
    overtake = async () => {
      overtake = async () => {}
      await durably.processUntilIdle()
    }
    await within(60_000, slow.processUntilIdle())
    expect(await soon(history(another({ archive: { files, after: '30d' } }), id))).toEqual(told)
    expect(await durably.getLogs(id)).toEqual(lines)
  })

  test('two processes that archive the same runs at once lose nothing and keep nothing twice', async () => {
    const files = new MemoryFiles()
    const world = await archivingWorld(name, files)
    const { durably, another, store, job, soon, env, within } = world
    const ids: string[] = []
    for (let i = 0; i < 10; i++) ids.push((await job.trigger({ lines: i * 20 })).id)
    await within(600_000, durably.processUntilIdle())
    const told = await Promise.all(ids.map((id) => soon(history(durably, id))))
    const lines = await Promise.all(ids.map((id) => durably.getLogs(id)))
    await env.advance(31 * DAY)
    const others = [another({ archive: { files, after: '30d' } }), another({ archive: { files, after: '30d' } })]
    await within(60_000, Promise.all([durably, ...others].map((instance) => instance.processUntilIdle())))
    for (const [i, id] of ids.entries()) {
      expect(await store.events.list(id)).toEqual([])
      expect(await soon(history(durably, id))).toEqual(told[i])
      expect(await durably.getLogs(id)).toEqual(lines[i])
    }
  })
})

test('a crash at any point of archiving leaves the rows or the file', async () => {
  /** The process is gone after so many calls of the files and the archive: no later call has any effect. */
  for (let calls = 0; ; calls++) {
    let left = calls
    const dies = <T extends object>(part: T): T =>
      new Proxy(part, {
        get: (target, verb) => {
          const member = Reflect.get(target, verb) as unknown
          if (typeof member !== 'function') return member
          return (...args: unknown[]) => (left-- > 0 ? member.apply(target, args) : Promise.reject(new Error('the process is gone')))
        },
      })
    const files = new MemoryFiles()
    const world = await archivingWorld('memory', files)
    const { durably, another, store, job, soon, env, within } = world
    const ids = [(await job.trigger({ lines: 150 })).id, (await job.trigger({ lines: 1 })).id]
    await within(600_000, durably.processUntilIdle())
    const told = await Promise.all(ids.map((id) => soon(history(durably, id))))
    const lines = await Promise.all(ids.map((id) => durably.getLogs(id)))
    await env.advance(31 * DAY)
    const archive = store.archive
    if (!archive) throw new Error('the memory store has an archive')
    const mortal = another({ archive: { files: dies(files), after: '30d' }, wrap: (inner) => ({ ...inner, archive: dies(archive) }) })
    await within(60_000, mortal.processUntilIdle())
    const isOver = left > 0
    const check = async () => {
      for (const [i, id] of ids.entries()) {
        expect(await soon(history(durably, id)), `events after ${calls} calls`).toEqual(told[i])
        expect(await durably.getLogs(id), `lines after ${calls} calls`).toEqual(lines[i])
      }
    }
    await check()
    await env.advance(120_000)
    await within(60_000, durably.processUntilIdle())
    await check()
    for (const id of ids) expect(await store.events.list(id)).toEqual([])
    if (isOver) {
      expect(calls).toBeGreaterThan(8)
      return
    }
  }
})

test.each(['write', 'move'] as const)(
  'a file of a run that was deleted meanwhile is removed, also if the answer to %s is lost',
  async (lost) => {
    let isLost = false
    const loses = async <T>(verb: typeof lost, answer: Promise<T>): Promise<T> => {
      const answered = await answer
      if (verb !== lost || isLost) return answered
      isLost = true
      throw new Error('the answer is lost')
    }
    class Files extends MemoryFiles {
      override async write(name: string, bytes: Uint8Array): Promise<void> {
        await super.write(name, bytes)
        // Another worker has removed the files of the run just before.
        await store.runs.delete(id)
        await store.archive?.forget([id])
        await loses('write', Promise.resolve())
      }
    }
    const files = new Files()
    const { durably, another, store, job, env, within } = await archivingWorld('memory')
    const { archive } = store
    if (!archive) throw new Error('the memory store has an archive')
    const { id } = await job.trigger({ lines: 1 })
    await within(600_000, durably.processUntilIdle())
    await env.advance(31 * DAY)
    const wrap = (inner: typeof store) => ({
      ...inner,
      archive: { ...archive, move: (move: Parameters<typeof archive.move>[0]) => loses('move', archive.move(move)) },
    })
    const archiving = another({ archive: { files, after: '30d' }, wrap })
    await within(60_000, archiving.processUntilIdle())
    expect(files.files.size).toBe(1)
    await env.advance(120_000)
    await within(60_000, archiving.processUntilIdle())
    expect(files.files.size).toBe(0)
  },
)

test('archived history equals what was recorded, whatever was recorded', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\n', '\r\n', '\u2028', '{"event":{}}', '\0', '\ud800', 'a'.repeat(5000)),
  )
  const value = fc.oneof(text, fc.jsonValue(), fc.bigInt(), fc.date({ noInvalidDate: true }))
  await fc.assert(
    fc.asyncProperty(fc.array(fc.record({ text, value, isChunk: fc.boolean() }), { maxLength: 30 }), async (items) => {
      const files = new MemoryFiles()
      const store = memoryStore()
      const options = { store, logger: false, archive: { files, after: 0 } } as const
      await using durably = createDurably(options)
      durably.use(withLogPersistence())
      const job = durably.defineJob({ name: 'job', input: z.null() }, async (ctx) => {
        for (const { text, value } of items) ctx.log.warn(text, value)
        await ctx.stream('text', async (emit) => {
          for (const { value, isChunk } of items) if (isChunk) emit(value)
        })
        return items
      })
      const { id } = await job.trigger(null)
      await durably.processOne()
      const [before, lines] = [await history(durably, id), await store.logs.list(id)]
      await new Promise((resolve) => setTimeout(resolve, 2))
      await using other = createDurably(options)
      await other.processOne()
      expect(await store.events.list(id)).toEqual([])
      expect(await history(durably, id)).toEqual(before)
      expect((await durably.getLogs(id)).map((line) => line.id).sort()).toEqual(lines.map((line) => line.id).sort())
    }),
    { numRuns: 50 },
  )
})

test('pages of log lines are found in many files without reading them all', async () => {
  const world = await archivingWorld('memory')
  const { durably, store, env, files } = world
  const owner = await held({ store, env })
  const { id } = owner.run
  const written: string[] = []
  for (let page = 0; page < 40; page++) {
    await env.advance(1000)
    const lines = Array.from({ length: 100 }, (_, i) => logLine({ store, env }, id, { message: `${page} ${i} ${'x'.repeat(2000)}` }))
    const events = lines.map((line) => recorded({ store, env }, 'log:write', { generation: 1, logId: line.id }))
    const unreferred = logLine({ store, env }, id)
    await owner.succeed(heartbeat(), { events, logs: [...lines, unreferred] })
    written.push(...ids([...lines, unreferred]))
  }
  await owner.succeed(complete())
  const late = logLine({ store, env }, id)
  await aMonthLater(world)
  await store.logs.append([late])
  written.push(late.id)
  expect(files.files.size).toBeGreaterThan(10)
  expect(ids(await durably.getLogs(id))).toEqual(written.sort())
  const reads: string[] = []
  const { read } = files
  files.read = (file) => {
    reads.push(file)
    return read.call(files, file)
  }
  const reader = world.another({ archive: { files, after: '30d' } })
  for (const at of [0, 1000, 2020, 4000]) {
    const page = await reader.getLogs(id, { cursor: written[at] ?? '', limit: 10 })
    expect(ids(page)).toEqual(written.slice(at + 1, at + 11))
  }
  expect(new Set(reads).size).toBeLessThan(files.files.size / 2)
})

test.each(WORLDS)('on %s a run with 100,000 events is archived in parts, and read from any place', { timeout: 60_000 }, async (name) => {
  const world = await archivingWorld(name)
  const { durably, store, env, files, soon } = world
  const owner = await held({ store, env })
  const { id } = owner.run
  for (let page = 0; page < 100; page++) {
    const events = Array.from({ length: 1000 }, (_, i) =>
      recorded({ store, env }, 'run:progress', { generation: 1, progress: { current: page * 1000 + i } }),
    )
    await owner.succeed(heartbeat(), { events })
  }
  await owner.succeed(complete())
  const { lastEventSequence: last } = await get({ store, env }, id)
  expect(last).toBe(100_003)
  await aMonthLater(world)
  expect(await store.events.list(id)).toEqual([])
  expect(files.files.size).toBeGreaterThan(10)
  let read = 0
  for await (const { sequence } of durably.subscribe(id)) if (sequence === read + 1) read++
  expect(read).toBe(last)
  for (const cursor of [last - 3, 50_000, 1, 49_999])
    expect((await soon(durably.subscribe(id, { after: cursor }).getReader().read())).value?.sequence).toBe(cursor + 1)
})

test.each<[string, object, RegExp]>([
  ['no files', { after: '1d' }, /archive needs files with write, read and remove/],
  ['files that lack a method', { files: { write() {}, read() {} }, after: '1d' }, /archive needs files with write, read and remove/],
  ['no age', { files: new MemoryFiles() }, /archive.after must be/],
])('%s: refused', (_, archive, message) => {
  expect(() => createDurably({ store: memoryStore(), archive: archive as never })).toThrow(message)
})

test('a retention that deletes runs before they are archived is refused; one that spares some is not', () => {
  const archive = { files: new MemoryFiles(), after: '30d' } as const
  expect(() => createDurably({ store: memoryStore(), archive, retention: '30d' })).toThrow(/an after shorter than retention/)
  expect(() => createDurably({ store: memoryStore(), archive, retention: '31d' })).not.toThrow()
  expect(() => createDurably({ store: memoryStore(), archive, retention: { completed: '1d' } })).not.toThrow()
})

test('a store without an archive refuses the option', () => {
  const { archive: _, ...store } = memoryStore()
  expect(() => createDurably({ store, archive: { files: new MemoryFiles(), after: '1d' } })).toThrow(/and a store that can archive/)
})
