// Real processes on a real file and a real folder: killed while they archive, and several at once.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { folder } from '../../src/archive-folder/index.ts'
import { createDurably, type Durably } from '../../src/durably.ts'
import { withLogPersistence } from '../../src/plugins/index.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import { temporaryDirectory } from '../sql/place.ts'
import { bundleChild } from '../sql/processes.ts'
import type { ArchiverTask } from './fixtures/archiver.ts'

let bundle: string
beforeAll(async () => {
  bundle = await bundleChild('archiver', fileURLToPath(new URL('fixtures/archiver.ts', import.meta.url)))
})

async function start(task: ArchiverTask): Promise<ChildProcess> {
  const child = fork(bundle, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child, 'message')
  child.send(task)
  return child
}

async function setup(runs: number) {
  const place = temporaryDirectory()
  const [file, root] = [join(place, 'test.db'), join(place, 'archive')]
  const durably = createDurably({ dialect: sqlite(file), concurrency: 10, logger: false, archive: { files: folder(root), after: '1d' } })
  onTestFinished(() => durably[Symbol.asyncDispose]())
  await durably.migrate()
  durably.use(withLogPersistence())
  const job = durably.defineJob({ name: 'job', input: z.number() }, async (ctx, n) => {
    for (let i = 0; i < n; i++) ctx.log.info(`line ${i}`)
    await ctx.run('step', () => n)
  })
  const triggered = await job.batchTrigger(Array.from({ length: runs }, (_, n) => ({ payload: n * 20 })))
  const ids = triggered.map(({ id }) => id)
  await durably.processUntilIdle()
  const told = await historiesOf(durably, ids)
  const check = async () => expect(await historiesOf(durably, ids)).toEqual(told)
  return { durably, file, root, ids, check }
}

async function historiesOf(durably: Durably, ids: readonly string[]) {
  const histories = []
  for (const id of ids) {
    const events = []
    for await (const event of durably.subscribe(id)) events.push(event)
    histories.push({ events, logs: await durably.getLogs(id) })
  }
  return histories
}

const DEATHS: NonNullable<ArchiverTask['diesAt']>[] = [
  { call: 'mkdir', number: 1 },
  { call: 'mkdir', number: 3 },
  { call: 'open', number: 1 },
  { call: 'open', number: 3 },
  { call: 'open', number: 5 },
  { call: 'rename', number: 1 },
  { call: 'rename', number: 2 },
  { call: 'written', number: 1 },
  { call: 'written', number: 3 },
]

describe('a process that archives', () => {
  test.each(DEATHS)('and is killed at $call $number loses nothing, and the next one goes on', async (diesAt) => {
    const { file, root, check } = await setup(3)
    const first = await start({ file, root, diesAt })
    const [, signal] = await once(first, 'exit')
    expect(signal).toBe('SIGKILL')
    await check()
    const second = await start({ file, root })
    expect(await once(second, 'message')).toEqual(['done', undefined])
    await check()
  })

  test('beside others, and is killed again and again, loses nothing', { timeout: 60_000 }, async () => {
    const { durably, file, root, ids, check } = await setup(15)
    for (let number = 1; number <= 4; number++) {
      const deaths = [{ call: 'written', number } as const, { call: 'rename', number: number + 1 } as const]
      // Each is listened to as soon as it has its task: one may be done before the other has started.
      const signals = deaths.map(async (diesAt) => {
        const child = await start({ file, root, diesAt })
        await Promise.race([once(child, 'exit'), once(child, 'message')])
        return child.signalCode
      })
      expect(await Promise.all(signals)).toContain('SIGKILL')
      await check()
    }
    await Promise.all([0, 1].map(async () => once(await start({ file, root }), 'message')))
    await check()
    const runs = readdirSync(root).flatMap((shard) => readdirSync(join(root, shard)))
    expect(runs.sort()).toEqual([...ids].sort())
    await using other = createDurably({ dialect: sqlite(file), archive: { files: folder(root), after: 0 } })
    await durably.purge({ olderThan: 0 })
    await other.processOne()
    expect(readdirSync(root).flatMap((shard) => readdirSync(join(root, shard)))).toEqual([])
  })
})
