// Several real processes on one database. Where only a notification can be in time, polling and heartbeats are so rare that
// the test would not end without one.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { DurablyOptions } from '../../src/config.ts'
import { createDurably, emptyRunView, reduceRun } from '../../src/index.ts'
import { postgres } from '../../src/postgres/index.ts'
import { bundleChild } from '../sql/processes.ts'
import { deafProxyTo } from './deaf-proxy.ts'
import { eventually } from './notifiers.ts'
import { temporaryDatabase } from './place.ts'

type FleetOptions = Pick<DurablyOptions, 'pollingInterval' | 'heartbeatInterval' | 'staleThreshold' | 'notifications' | 'concurrency'>

const RARELY: FleetOptions = { pollingInterval: 600_000, heartbeatInterval: 200_000, staleThreshold: 600_000 }

let program: string
beforeAll(async () => {
  program = await bundleChild('postgres-fleet', fileURLToPath(new URL('./fixtures/fleet-worker.ts', import.meta.url)))
})

interface Member {
  process: ChildProcess
  said: string[]
  says(what: string): Promise<void>
}

async function member(url: string, options: FleetOptions): Promise<Member> {
  const child = fork(program, [url, JSON.stringify(options)], { execArgv: ['--no-warnings'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said: string[] = []
  child.on('message', (what) => void said.push(String(what)))
  const says = (what: string) => eventually(() => expect(said).toContain(what))
  await says('started')
  return { process: child, said, says }
}

/** This process: it triggers and looks, but executes nothing. */
async function office(url: string, options: FleetOptions = RARELY) {
  const durably = createDurably({ dialect: postgres(url), ...options })
  await durably.migrate()
  onTestFinished(() => durably[Symbol.asyncDispose]())
  const never = () => {
    throw new Error('executed in the wrong process')
  }
  return {
    durably,
    greet: durably.defineJob({ name: 'greet', input: z.string(), output: z.string() }, never),
    long: durably.defineJob({ name: 'long', input: z.object({}) }, never),
    talk: durably.defineJob({ name: 'talk', input: z.number() }, never),
  }
}

describe('processes that notify each other', () => {
  test('a trigger wakes a worker elsewhere, and its end wakes the one who waits', async () => {
    const url = await temporaryDatabase()
    const { greet } = await office(url)
    await member(url, RARELY)
    const { output } = await greet.triggerAndWait('you')
    expect(output).toMatch(/^Hello you/)
    expect(output).not.toContain(String(process.pid))
  })

  test('a cancel reaches a running step elsewhere', async () => {
    const url = await temporaryDatabase()
    const { durably, long } = await office(url)
    const { says } = await member(url, RARELY)
    const { id } = await long.trigger({})
    await says('second step')
    expect(await durably.cancel(id)).toBe('requested')
    await says('aborted')
    await eventually(async () => expect(await durably.getRun(id)).toMatchObject({ status: 'cancelled' }))
  })

  test('a subscriber hears a stream while it comes', async () => {
    const url = await temporaryDatabase()
    const { durably, talk } = await office(url)
    await member(url, RARELY)
    const { id } = await talk.trigger(100)
    let view = emptyRunView
    let chunks = 0
    for await (const event of durably.subscribe(id)) {
      view = reduceRun(view, event)
      if (event.type === 'stream:chunk') chunks++
    }
    expect(view).toMatchObject({ status: 'completed' })
    expect(view.streams.talk?.text).toBe(Array.from({ length: 100 }, (_, i) => `word ${i} `).join(''))
    // More than the last one, which has everything.
    expect(chunks).toBeGreaterThan(1)
  })
})

describe('processes that cannot notify each other', () => {
  test('with notifications off a cancel arrives with the next heartbeat', async () => {
    const url = await temporaryDatabase()
    const options = { pollingInterval: 50, heartbeatInterval: 100, staleThreshold: 600_000, notifications: false }
    const { durably, long } = await office(url, options)
    const { says } = await member(url, options)
    const { id } = await long.trigger({})
    await says('second step')
    await durably.cancel(id)
    await says('aborted')
    await eventually(async () => expect(await durably.getRun(id)).toMatchObject({ status: 'cancelled' }))
  })

  test('behind a pooler that drops notifications polling finds everything, and a worker:error says so once', async () => {
    const url = await temporaryDatabase()
    const proxy = await deafProxyTo(url)
    const options = { pollingInterval: 50, heartbeatInterval: 100, staleThreshold: 10_000 }
    const { durably, greet, talk } = await office(proxy.url, options)
    const codes: unknown[] = []
    durably.on('worker:error', ({ cause }) => codes.push(cause && Reflect.get(Object(cause), 'code')))
    await member(proxy.url, options)
    expect((await greet.triggerAndWait('you')).output).toMatch(/^Hello you/)
    const { id } = await talk.trigger(20)
    let last = ''
    for await (const { type } of durably.subscribe(id)) last = type
    expect(last).toBe('run:complete')
    await eventually(() => expect(codes).toEqual(['notifications_unavailable']))
  })
})

describe('a worker that gets SIGTERM', () => {
  test('gives back what has settled, without a penalty, and another one goes on at once', async () => {
    const url = await temporaryDatabase()
    const { durably, long } = await office(url)
    const first = await member(url, RARELY)
    const { id } = await long.trigger({})
    await first.says('second step')
    const second = await member(url, RARELY)
    first.process.kill('SIGTERM')
    expect(await once(first.process, 'exit')).toEqual([0, null])
    // Its lease would last for minutes.
    await second.says('second step')
    expect(second.said).not.toContain('first step')
    expect(await durably.getRun(id)).toMatchObject({ status: 'running', recoveries: 0, currentStepIndex: 1 })
    await durably.cancel(id)
    await eventually(async () => expect(await durably.getRun(id)).toMatchObject({ status: 'cancelled' }))
    const types = []
    for await (const { type } of durably.subscribe(id)) types.push(type)
    expect(types).toContain('run:release')
    expect(types).not.toContain('run:reclaim')
  })

  test('many workers with many slots each share the work, and nobody does anything twice', async () => {
    const url = await temporaryDatabase()
    const { durably, greet } = await office(url)
    await Promise.all(Array.from({ length: 4 }, () => member(url, { ...RARELY, concurrency: 5 })))
    const runs = await greet.batchTrigger(Array.from({ length: 200 }, (_, i) => ({ payload: String(i) })))
    await eventually(async () => expect(await durably.getRuns({ status: 'completed' })).toHaveLength(200))
    const outputs = await durably.getRuns({ status: 'completed' })
    expect(new Set(outputs.map(({ output }) => String(output).split('from ')[1])).size).toBeGreaterThan(1)
    for (const { id } of runs.slice(0, 20)) expect(await durably.getSteps(id)).toHaveLength(1)
  })
})
