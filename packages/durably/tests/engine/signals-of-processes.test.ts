// Real processes that get real signals: what they execute is given back, and the next process goes on without waiting for a lease.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createDurably } from '../../src/durably.ts'
import { temporaryDatabase } from '../postgres/place.ts'
import { temporaryFile } from '../sql/place.ts'
import { bundleChild } from '../sql/processes.ts'
import { dialectOf, type Place } from './bookings.ts'
import type { Signalled } from './fixtures/signalled-worker.ts'

const FIXTURE = fileURLToPath(new URL('./fixtures/signalled-worker.ts', import.meta.url))
let bundle = ''

beforeAll(async () => {
  bundle = await bundleChild('signalled', FIXTURE)
}, 60_000)

const PLACES: { name: string; open: () => Promise<Place> }[] = [
  { name: 'SQLite', open: async () => ({ database: temporaryFile(), tablePrefix: '' }) },
  { name: 'Postgres', open: async () => ({ database: await temporaryDatabase(), tablePrefix: '' }) },
]

async function office(place: Place, instances = 1) {
  const durably = createDurably({ dialect: dialectOf(place), logger: false })
  onTestFinished(() => durably[Symbol.asyncDispose]())
  await durably.migrate()
  const jobs = Array.from({ length: instances }, (_, i) => durably.defineJob({ name: `long ${i}`, input: z.unknown() }, async () => 0))
  const ids = await Promise.all(jobs.map(async (job) => (await job.trigger(null)).id))
  return { durably, ids, id: ids[0] ?? '' }
}

function worker(setup: Signalled): { child: ChildProcess; says(what: string, times?: number): Promise<void>; output(): string } {
  const child = fork(bundle, [JSON.stringify(setup)], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], execArgv: ['--no-warnings'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said: string[] = []
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text) => (output += text))
  child.on('message', (what) => void said.push(String(what)))
  return {
    child,
    output: () => output,
    async says(what, times = 1) {
      while (said.filter((other) => other === what).length < times) await once(child, 'message')
    },
  }
}

describe.each(PLACES)('a worker with handleSignals on $name', ({ open }) => {
  test.each(['heeds', 'ignores'] as const)(
    'whose step %s its signal gives the run back on SIGINT, and the next one completes it',
    async (second) => {
      const place = await open()
      const { durably, id } = await office(place)
      const first = worker({ place, second })
      await first.says('second')
      first.child.kill('SIGINT')
      expect(await once(first.child, 'exit')).toEqual([130, null])
      expect(await durably.getRun(id)).toMatchObject({ status: 'pending', recoveries: 0, currentStepIndex: 1 })
      const next = worker({ place, second: 'returns' })
      for await (const event of durably.subscribe(id)) if (event.type === 'run:complete') expect(event.output).toBe(next.child.pid)
      expect(await durably.getRun(id)).toMatchObject({ status: 'completed', recoveries: 0 })
      expect(first.output() + next.output()).toBe('')
    },
  )
})

describe('a worker with handleSignals', () => {
  const open = async () => ({ database: temporaryFile(), tablePrefix: '' })

  test.each([
    ['SIGTERM exits with 143', ['SIGTERM'], [143]],
    ['two signals at once, as npm sends them, do not cut the release short', ['SIGTERM', 'SIGINT'], [130, 143]],
  ] as const)('%s', async (_, signals, codes) => {
    const place = await open()
    const { durably, id } = await office(place)
    const { child, says } = worker({ place, second: 'ignores' })
    await says('second')
    for (const signal of signals) child.kill(signal)
    const [code] = await once(child, 'exit')
    expect(codes).toContain(code)
    expect(await durably.getRun(id)).toMatchObject({ status: 'pending' })
  })

  test('of several instances ends when all of them have given back', async () => {
    const place = await open()
    const { durably, ids } = await office(place, 2)
    const { child, says } = worker({ place, second: 'ignores', instances: 2 })
    await says('second', 2)
    child.kill('SIGINT')
    expect(await once(child, 'exit')).toEqual([130, null])
    for (const id of ids) expect(await durably.getRun(id)).toMatchObject({ status: 'pending' })
  })

  test('leaves the end of the process to another listener, and a function that goes on keeps its lease', async () => {
    const place = await open()
    const { durably, id } = await office(place)
    const { child, says } = worker({ place, second: 'ignores', hasOther: true })
    await says('second')
    child.kill('SIGINT')
    expect(await once(child, 'exit')).toEqual([7, null])
    expect(await durably.getRun(id)).toMatchObject({ status: 'running' })
  })
})
