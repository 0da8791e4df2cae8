// Real processes on a real file: the worker that began a run is killed, and another one continues its trace.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createDurably } from '../../src/durably.ts'
import { sqlite } from '../../src/sqlite/index.ts'
import { telemetry } from './telemetry.ts'

const WORKER = fileURLToPath(new URL('./fixtures/worker.mjs', import.meta.url))

interface SpanLine {
  pid: number
  name: string
  traceId: string
  spanId: string
  parentId?: string
  attributes: Record<string, unknown>
}

function startWorker(...args: string[]) {
  const child = fork(WORKER, args, { execArgv: ['--no-warnings'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said = new Set<unknown>()
  child.on('message', (word) => said.add(word))
  const says = async (word: string) => {
    while (!said.has(word)) await once(child, 'message')
  }
  return { child, says }
}

test('the worker that takes a run over continues its trace, also if the one before it was killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'durably-otel-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'test.db')
  const spansFile = join(folder, 'spans.jsonl')
  writeFileSync(spansFile, '')
  await using durably = createDurably({ dialect: sqlite(file) })
  await durably.migrate()
  const { plugin, span } = telemetry()
  durably.use(plugin())
  const job = durably.defineJob({ name: 'long', input: z.unknown() }, () => null)
  const { id } = await job.trigger(null)

  const first = startWorker(file, spansFile, '1')
  await first.says('hanging')
  const second = startWorker(file, spansFile)
  await second.says('ready')
  first.child.kill('SIGKILL')
  await second.says('run long')

  const { traceId, spanId } = span('trigger long').spanContext()
  const lines = readFileSync(spansFile, 'utf8')
    .trim()
    .split('\n')
    .map((line): SpanLine => JSON.parse(line))
  expect(new Set(lines.map((line) => line.traceId))).toEqual(new Set([traceId]))
  const run = lines.find(({ name }) => name === 'run long')
  expect(run).toMatchObject({
    pid: second.child.pid,
    parentId: spanId,
    attributes: { 'durably.run.id': id, 'durably.run.execution': 2, 'durably.run.recoveries': 1, 'durably.run.outcome': 'completed' },
  })
  const steps = lines.filter(({ name }) => name.startsWith('step'))
  expect(steps.map(({ pid, name }) => [pid, name])).toEqual([
    [first.child.pid, 'step part 0'],
    [second.child.pid, 'step part 1'],
    [second.child.pid, 'step part 2'],
  ])
  expect(steps.slice(1).map(({ parentId }) => parentId)).toEqual([run?.spanId, run?.spanId])
})
