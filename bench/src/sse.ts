// How long it takes from `emit` in a worker process until a client of an API process has it, over SSE, and what that costs both and their
// database; and what an open stream costs the API process. Each word carries the time at which it was emitted.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { emptyRunView, reduceRun } from '../../packages/durably/dist/client/index.js'
import { allowAll, durablyHandler, nodeListener } from '../../packages/durably/dist/server/index.js'
import { startPostgres } from '../../proof/dist/postgres/server.js'
import { answerUse, transactions, used } from './process-cost.ts'
import { summary } from './summary.ts'
import { now, talkingEngine } from './talk.ts'

const ROUNDS = 3
const WORDS = 250
/** 50 words a second. */
const EVERY_MS = 20
const MANY_RUNS = 60
const OPEN_STREAMS = 200

const engine = (url: string) => talkingEngine(url, { words: WORDS, everyMs: EVERY_MS, concurrency: MANY_RUNS })

async function sseLatencies(api: string, runs: number): Promise<number[]> {
  const latencies: number[] = []
  await Promise.all(
    Array.from({ length: runs }, async () => {
      const { id } = await post(`${api}/runs`, { job: 'talk', input: {} })
      let view = emptyRunView
      let seen = 0
      for await (const event of events(await fetch(`${api}/runs/${id}/events`))) {
        view = reduceRun(view, event)
        const text = view.streams.talk?.text ?? ''
        const words = text.slice(seen, text.lastIndexOf('\n') + 1)
        for (const word of words.split('\n').slice(0, -1)) latencies.push(now() - Number(word))
        seen = Math.max(seen, seen + words.length)
      }
    }),
  )
  return latencies
}

async function post(url: string, body: unknown): Promise<{ id: string }> {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  return (await response.json()) as { id: string }
}

/** As little as a client can do. */
async function* events(response: Response): AsyncGenerator<Parameters<typeof reduceRun>[1]> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      if (block.startsWith('event: done')) return
      const data = block.indexOf('data: ')
      if (block.startsWith('id: ')) yield JSON.parse(block.slice(data + 'data: '.length))
    }
  }
}

/** How much the API process grew with so many streams of runs in which nothing happens. */
async function growth(api: string, rss: () => Promise<number>): Promise<number> {
  const { id } = await post(`${api}/runs`, { job: 'talk', input: {}, options: { delay: '1h' } })
  const closing = new AbortController()
  const open = async () => {
    const response = await fetch(`${api}/runs/${id}/events`, { signal: closing.signal })
    await response.body?.getReader().read()
  }
  // What the first ones need stays for all that follow.
  for (let n = 0; n < 10; n++) await open()
  const before = await rss()
  await Promise.all(Array.from({ length: OPEN_STREAMS }, open))
  const after = await rss()
  closing.abort()
  return (after - before) / 2 ** 20
}

async function measure(): Promise<void> {
  const server = await startPostgres({ own: true })
  const { durably } = engine(server.url)
  await durably.migrate()
  await durably[Symbol.asyncDispose]()
  const start = (role: string) => fork(fileURLToPath(import.meta.url), [role, server.url], { execArgv: ['--no-warnings', '--expose-gc'] })
  const worker = start('worker')
  await once(worker, 'message')
  const api = start('api')
  const [port] = (await once(api, 'message')) as [number]
  const rss = async () => (await used(api)).rssBytes
  const cost = async () => ({ api: (await used(api)).cpuMs, worker: (await used(worker)).cpuMs, database: await transactions(server.url) })
  const url = `http://127.0.0.1:${port}`
  const one: number[] = []
  const many: number[] = []
  for (let round = 0; round < ROUNDS; round++) one.push(...(await sseLatencies(url, 1)))
  const before = await cost()
  for (let round = 0; round < ROUNDS; round++) many.push(...(await sseLatencies(url, MANY_RUNS)))
  const after = await cost()
  const perWord = (what: keyof typeof before) => (after[what] - before[what]) / many.length
  console.log(`emit → SSE client, 1 run at 50 words/s              ${summary(one)}`)
  console.log(`emit → SSE client, ${MANY_RUNS} runs at 50 words/s each        ${summary(many)}`)
  console.log(
    `a word of ${MANY_RUNS} runs                                  worker ${us(perWord('worker'))}, API ${us(perWord('api'))} of a processor, ${perWord('database').toFixed(3)} transactions`,
  )
  console.log(`an API process with ${OPEN_STREAMS} more open streams grew by   ${(await growth(url, rss)).toFixed(1)} MB`)
  worker.kill()
  api.kill()
  await server.stop()
}

const us = (ms: number) => `${Math.round(ms * 1000)} µs`

function work(url: string): void {
  engine(url).durably.start()
  answerUse()
  process.send?.('ready')
}

function serve(url: string): void {
  const { durably } = engine(url)
  const server = createServer(nodeListener(durablyHandler(durably, { authorize: allowAll(), maxStreams: 1000 })))
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
  answerUse()
}

const [role, url = ''] = process.argv.slice(2)
if (role === 'worker') work(url)
else if (role === 'api') serve(url)
else await measure()
