import { describe, expect, test } from 'vitest'
import { DurablyError } from '../model/errors.ts'
import type { LogRow } from '../model/log.ts'
import { virtualEnv } from '../testing/virtual-env.ts'
import { LogLineWriter } from './log-line-writer.ts'

const line = (id: string): LogRow => ({ id, runId: 'run', stepName: null, level: 'info', message: id, data: null, timestamp: '' })

function setup(append: (lines: readonly LogRow[]) => Promise<void> = async () => {}) {
  const env = virtualEnv()
  const stored: string[][] = []
  const reports: unknown[] = []
  const logs = {
    async append(lines: readonly LogRow[]) {
      await append(lines)
      stored.push(lines.map(({ id }) => id))
    },
    list: async () => [],
    find: async () => [],
  }
  return { env, stored, reports, writer: new LogLineWriter({ logs, env, report: (error) => void reports.push(error) }) }
}

describe('the log writer', () => {
  test('stores the lines of one turn in one write', async () => {
    const { env, stored, writer } = setup()
    for (const id of ['a', 'b', 'c']) writer.append(line(id))
    await env.idle()
    writer.append(line('d'))
    await env.idle()
    expect(stored).toEqual([['a', 'b', 'c'], ['d']])
  })

  test('says once that it drops lines, when more than 10,000 wait', async () => {
    const { env, stored, reports, writer } = setup()
    for (let i = 0; i < 10_005; i++) writer.append(line(String(i)))
    expect(reports).toMatchObject([
      { code: 'store_unavailable', message: 'more than 10000 log lines wait for the store; further ones are dropped' },
    ])
    await env.idle()
    expect(stored.flat()).toHaveLength(10_000)
  })

  test.each(Array.from({ length: 12 }, (_, i) => i))(
    'a line that comes %i microtasks after a write began is stored too',
    async (microtasks) => {
      const { env, stored, writer } = setup(async ([first]) => {
        if (first?.id !== 'a') return
        void (async () => {
          for (let i = 0; i < microtasks; i++) await null
          writer.append(line('b'))
        })()
      })
      writer.append(line('a'))
      await env.idle()
      await env.idle()
      await writer.drain()
      expect(stored).toEqual([['a'], ['b']])
    },
  )

  test('drain waits for what was handed over, and for nothing when there is nothing', async () => {
    const { env, stored, writer } = setup()
    await writer.drain()
    writer.append(line('a'))
    const drained = writer.drain()
    await env.idle()
    await drained
    expect(stored).toEqual([['a']])
  })

  test('tries a passing error again, then reports it and drops the lines; later lines are stored', async () => {
    let down = true
    const { env, stored, reports, writer } = setup(async () => {
      if (down) throw new DurablyError('store_unavailable', 'down')
    })
    writer.append(line('lost'))
    await env.advance(60_000)
    expect(reports).toMatchObject([{ code: 'store_unavailable' }])
    down = false
    writer.append(line('kept'))
    await env.idle()
    expect(stored).toEqual([['kept']])
  })
})
