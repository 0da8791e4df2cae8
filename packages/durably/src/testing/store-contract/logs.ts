import { deepEqual, equal, ok } from '../assert.ts'
import { chapter } from './chapter.ts'
import { byId, complete, create, get, heartbeat, held, logLine, recordStep, unchanged } from './world.ts'

export const logsChapter = chapter('logs', {
  'lines are kept as given, in the order they were written': async (world) => {
    const { id } = await create(world)
    const lines = [
      logLine(world, id, { level: 'info', message: 'one', data: '{"n":1}' }),
      logLine(world, id, { level: 'warn', message: 'two', stepName: 'fetch' }),
      logLine(world, id, { level: 'error', message: 'three' }),
    ]
    await world.store.logs.append(lines)
    await world.env.advance(5)
    const later = logLine(world, id, { message: 'four' })
    await world.store.logs.append([later])
    deepEqual(await world.store.logs.list(id), [...lines, later], 'lines')
  },

  'lines are attached to an owner write': async (world) => {
    const owner = await held(world)
    const lines = [logLine(world, owner.run.id, { message: 'one' }), logLine(world, owner.run.id, { message: 'two' })]
    await owner.succeed(recordStep(owner), { logs: lines })
    const last = logLine(world, owner.run.id, { message: 'three' })
    await owner.succeed(complete(), { logs: [last] })
    deepEqual(await world.store.logs.list(owner.run.id), [...lines, last], 'lines')
  },

  'the lines of a refused write are not kept': async (world) => {
    const owner = await held(world)
    const write = owner.next(heartbeat(), { logs: [logLine(world, owner.run.id)] })
    await unchanged(world, owner.run.id, () => world.store.runs.apply([{ ...write, claim: { ...write.claim, token: 'not mine' } }]))
  },

  'lines are found by their ids, within their run': async (world) => {
    const { id } = await create(world)
    const other = await create(world)
    const lines = Array.from({ length: 5 }, (_, i) => logLine(world, id, { message: `${i}`, data: '{"n":1}' }))
    const foreign = logLine(world, other.id)
    await world.store.logs.append([...lines, foreign])
    const [first, , , fourth] = lines
    ok(first && fourth, 'lines')
    const found = await world.store.logs.find(id, [fourth.id, 'not there', foreign.id, first.id])
    deepEqual(byId(found), [first, fourth], 'two of them')
    deepEqual(await world.store.logs.find(id, []), [], 'none')
    deepEqual(await world.store.logs.find('not there', [first.id]), [], 'of another run')
  },

  'a line whose id is known is left out': async (world) => {
    const { id } = await create(world)
    const line = logLine(world, id, { message: 'first' })
    await world.store.logs.append([line])
    const fresh = logLine(world, id, { message: 'fresh' })
    await world.store.logs.append([{ ...line, message: 'second' }, fresh])
    deepEqual(await world.store.logs.list(id), [line, fresh], 'lines')
  },

  'a line whose id is known from another run is left out': async (world) => {
    const one = await create(world, { jobName: 'one' })
    const other = await held(world)
    const line = logLine(world, one.id)
    await world.store.logs.append([line])
    await world.store.logs.append([{ ...line, runId: other.run.id }])
    await other.succeed(heartbeat(), { logs: [{ ...line, runId: other.run.id }] })
    deepEqual(await world.store.logs.list(one.id), [line], 'lines of the one')
    deepEqual(await world.store.logs.list(other.run.id), [], 'lines of the other')
  },

  'one id twice in a call is one line': async (world) => {
    const { id } = await create(world)
    const line = logLine(world, id)
    await world.store.logs.append([line, line])
    deepEqual(await world.store.logs.list(id), [line], 'lines')
  },

  'a line whose run is gone is left out, the others are kept': async (world) => {
    const { id } = await create(world)
    const gone = world.env.id()
    const line = logLine(world, id)
    await world.store.logs.append([logLine(world, gone), line, logLine(world, gone)])
    deepEqual(await world.store.logs.list(gone), [], 'lines of the unknown run')
    deepEqual(await world.store.logs.list(id), [line], 'lines of the known run')
  },

  'lines are kept apart by run': async (world) => {
    const one = await create(world)
    const other = await create(world)
    const lines = [one.id, other.id, one.id, other.id].map((id) => logLine(world, id))
    await world.store.logs.append(lines)
    for (const { id } of [one, other]) {
      deepEqual(
        await world.store.logs.list(id),
        lines.filter((line) => line.runId === id),
        'lines',
      )
    }
  },

  'a finished run still accepts log lines': async (world) => {
    const owner = await held(world)
    await owner.succeed(complete())
    const line = logLine(world, owner.run.id)
    await world.store.logs.append([line])
    deepEqual(await world.store.logs.list(owner.run.id), [line], 'lines')
  },

  'lines that no owner write carries move nothing': async (world) => {
    const { id } = await create(world)
    const before = await get(world, id)
    await world.store.logs.append([logLine(world, id)])
    deepEqual(await get(world, id), before, 'the run')
    equal((await world.store.events.list(id)).length, 1, 'events')
  },

  'no lines and unknown runs are no error': async (world) => {
    await world.store.logs.append([])
    deepEqual(await world.store.logs.list(world.env.id()), [], 'lines')
  },

  'hundreds of lines in one call are all kept': async (world) => {
    const { id } = await create(world)
    const lines = Array.from({ length: 700 }, (_, i) => logLine(world, id, { message: `line ${i}` }))
    await world.store.logs.append(lines)
    deepEqual(await world.store.logs.list(id), lines, 'lines')
  },

  'a line that was handed in or out is a copy': async (world) => {
    const { id } = await create(world)
    const line = logLine(world, id, { message: 'mine' })
    await world.store.logs.append([line])
    line.message = 'changed by the caller'
    const [read] = await world.store.logs.list(id)
    ok(read, 'a line')
    read.message = 'changed by the reader'
    deepEqual(
      (await world.store.logs.list(id)).map(({ message }) => message),
      ['mine'],
      'what is stored',
    )
  },
})
