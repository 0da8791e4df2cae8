// The steps and the log lines of a run over HTTP: pages that are limited in rows and in size.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { withLogPersistence } from '../../src/plugins/index.ts'
import { WORLDS } from '../engine/world.ts'
import { refused, served } from './world.ts'

interface Page {
  steps?: { id: string; name: string }[]
  logs?: { id: string; message: string }[]
  nextCursor: string | null
}

describe.each(WORLDS)('steps and logs over HTTP (%s)', (name) => {
  async function ran(steps: number, output: string) {
    const world = await served(name)
    const { durably, soon, call } = world
    durably.use(withLogPersistence())
    const job = durably.defineJob({ name: 'long', input: z.null() }, async (ctx) => {
      for (let i = 0; i < steps; i++) {
        ctx.log.info(`line ${i}`)
        await ctx.run(`step ${i}`, () => output)
      }
    })
    const { id } = await job.trigger(null)
    await soon(durably.processUntilIdle())
    const page = async (what: 'steps' | 'logs', query: string) => (await call('GET', `/runs/${id}/${what}${query}`)).body as Page
    return { ...world, id, page }
  }

  test('come in pages of 50, or as many as asked for, up to 200', async () => {
    const { durably, id, page } = await ran(230, 'x')
    for (const what of ['steps', 'logs'] as const) {
      const all: { id: string }[] = await (what === 'steps' ? durably.getSteps(id) : durably.getLogs(id))
      const first = await page(what, '')
      expect(first[what]).toEqual(all.slice(0, 50))
      expect(first.nextCursor).toBe(all[49]?.id)
      const second = await page(what, `?limit=200&cursor=${first.nextCursor}`)
      expect(second[what]).toEqual(all.slice(50, 250))
      const rest = all.slice(250)
      if (second.nextCursor === null) expect(rest).toEqual([])
      else expect((await page(what, `?limit=200&cursor=${second.nextCursor}`))[what]).toEqual(rest.slice(0, 200))
    }
  })

  test('a page ends before it becomes very large', async () => {
    const { page } = await ran(12, 'x'.repeat(1024 * 1024))
    const names: string[] = []
    const sizes: number[] = []
    for (let query = ''; ; ) {
      const { steps = [], nextCursor } = await page('steps', query)
      sizes.push(steps.length)
      names.push(...steps.map((step) => step.name))
      if (nextCursor === null) break
      query = `?cursor=${nextCursor}`
    }
    expect(sizes).toEqual([4, 4, 4, 0])
    expect(names).toEqual(Array.from({ length: 12 }, (_, i) => `step ${i}`))
  })

  test('what is no page is refused', async () => {
    const { call, id } = await ran(1, 'x')
    const path = `/runs/${id}/steps`
    expect(await call('GET', `${path}?limit=201`)).toMatchObject(
      refused(400, 'invalid_argument', 'limit must be a whole number from 1 to 200'),
    )
    expect(await call('GET', `${path}?cursor=nothing`)).toMatchObject(refused(400, 'invalid_argument', 'cursor must be the id of a step'))
    expect(await call('GET', `${path}?cursr=x`)).toMatchObject(refused(400, 'invalid_argument', 'did you mean "cursor"?'))
    expect(await call('GET', `/runs/${id}/logs?cursor=nothing`)).toMatchObject(
      refused(400, 'invalid_argument', 'cursor must be the id of a log line'),
    )
  })
})
