// The server's clock decides, whatever the clocks of its clients say.
import { describe, expect, onTestFinished, test } from 'vitest'
import { createDurably } from '../../src/durably.ts'
import { systemEnv } from '../../src/model/env.ts'
import { postgres } from '../../src/postgres/index.ts'
import { gate } from '../engine/gate.ts'
import { temporaryDatabase } from './place.ts'

const HOUR = 3_600_000
const anything = { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } } as const

describe.each([2 * HOUR, -2 * HOUR])('with a client whose clock is %i ms ahead', (ahead) => {
  async function setup() {
    const url = await temporaryDatabase()
    const open = (env = systemEnv()) => {
      const durably = createDurably({ dialect: postgres(url), env, notifications: false })
      onTestFinished(() => durably[Symbol.asyncDispose]())
      return durably
    }
    const wrong = open({ ...systemEnv(), wall: () => Date.now() + ahead })
    await wrong.migrate()
    const job = wrong.defineJob({ name: 'job', input: anything }, async () => 'done')
    return { job, wrong, right: open() }
  }

  test('a reader sees the phase that the server counts', async () => {
    const { job, wrong, right } = await setup()
    const later = await job.trigger({}, { delay: '1h' })
    expect(later.phase).toBe('sleeping')
    const end = gate()
    const steady = right.defineJob({ name: 'steady', input: anything }, () => end.opened)
    const { id } = await steady.trigger({})
    right.start()
    await expect.poll(async () => (await right.getRun(id))?.status).toBe('running')
    expect((await wrong.getRun(id))?.phase).toBe('running')
    expect((await wrong.getRuns({ limit: 5 })).map(({ phase }) => phase).sort()).toEqual(['running', 'sleeping'])
    expect((await wrong.getRuns()).map(({ phase }) => phase).sort()).toEqual(['running', 'sleeping'])
    expect(await wrong.countsByPhase()).toMatchObject({ running: 1, sleeping: 1, stale: 0 })
    end.open()
  })

  test('a deadline and a delay count from the time of the server', async () => {
    const { job, wrong } = await setup()
    const { id, deadlineAt } = await job.trigger({}, { deadline: '1h' })
    expect(Math.abs(Date.parse(deadlineAt ?? '') - Date.now() - HOUR)).toBeLessThan(HOUR / 2)
    const late = await job.trigger({}, { deadline: '1h', delay: '3h' })
    expect(late.runAt).toBe(late.deadlineAt)
    expect(await wrong.processOne()).toBe(true)
    expect(await wrong.getRun(id)).toMatchObject({ status: 'completed' })
    expect(await wrong.getRun(late.id)).toMatchObject({ status: 'pending' })
  })
})
