import { expect, test, vi } from 'vitest'
import type { LogRow } from '../model/log.ts'
import { virtualEnv } from '../testing/virtual-env.ts'

const line = (id: string): LogRow => ({ id, runId: 'run', stepName: null, level: 'info', message: id, data: null, timestamp: '' })

test('drain waits for lines that came before the code that stores them; code that cannot be loaded is reported and tried again', async () => {
  // Another test may have loaded the code already.
  vi.resetModules()
  const { LazyLogLines } = await import('./lazy-log-lines.ts')
  const stored: string[] = []
  const reports: unknown[] = []
  const append = async (lines: readonly LogRow[]) => void stored.push(...lines.map(({ id }) => id))
  const env = virtualEnv()
  const { load } = env
  const logs = { append, list: async () => [], find: async () => [] }
  const lines = new LazyLogLines({ logs, env, report: (error) => void reports.push(error) })

  env.load = async () => Promise.reject(new Error('offline'))
  lines.append(line('lost'))
  await lines.drain()
  expect(reports).toEqual([new Error('offline')])

  env.load = load
  lines.append(line('a'))
  lines.append(line('b'))
  const drained = lines.drain()
  await env.idle()
  await drained
  expect(stored).toEqual(['a', 'b'])
})
