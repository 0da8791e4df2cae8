// How long it takes from `emit` in one process until a subscriber in another one has it. Each word carries the time at which
// it was emitted. Most of it is the flush interval: words are merged for up to 50 ms, so that a stream costs few commits.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { emptyRunView, reduceRun } from '../../packages/durably/dist/index.js'
import { startPostgres } from '../../proof/dist/postgres/server.js'
import { summary } from './summary.ts'
import { now, talkingEngine } from './talk.ts'

const ROUNDS = 3
const WORDS = 200
const EVERY_MS = 10

const engine = (url: string) => talkingEngine(url, { words: WORDS, everyMs: EVERY_MS, concurrency: 10 })

async function streamLatencies(url: string, runs: number): Promise<number[]> {
  const { durably, talk } = engine(url)
  const latencies: number[] = []
  await Promise.all(
    Array.from({ length: runs }, async () => {
      const { id } = await talk.trigger({})
      let view = emptyRunView
      let seen = 0
      for await (const event of durably.subscribe(id)) {
        view = reduceRun(view, event)
        const words = view.streams.talk?.text.split('\n').slice(0, -1) ?? []
        for (const word of words.slice(seen)) latencies.push(now() - Number(word))
        seen = Math.max(seen, words.length)
      }
    }),
  )
  await durably[Symbol.asyncDispose]()
  return latencies
}

async function notifyLatencies(url: string): Promise<number[]> {
  const [sender, listener] = [new pg.Client(url), new pg.Client(url)]
  await Promise.all([sender.connect(), listener.connect()])
  await listener.query('listen bench')
  const latencies: number[] = []
  for (let i = 0; i < WORDS; i++) {
    const heard = once(listener, 'notification')
    const sent = now()
    await sender.query("notify bench, 'x'")
    await heard
    latencies.push(now() - sent)
  }
  await Promise.all([sender.end(), listener.end()])
  return latencies
}

async function measure(): Promise<void> {
  const server = await startPostgres({ own: true })
  const { durably } = engine(server.url)
  await durably.migrate()
  const worker = fork(fileURLToPath(import.meta.url), [server.url], { execArgv: ['--no-warnings'] })
  await once(worker, 'message')
  const raw: number[] = []
  const one: number[] = []
  const ten: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    raw.push(...(await notifyLatencies(server.url)))
    one.push(...(await streamLatencies(server.url, 1)))
    ten.push(...(await streamLatencies(server.url, 10)))
  }
  console.log(`raw: a bare NOTIFY, one process to another   ${summary(raw)}`)
  console.log(`emit → subscribe elsewhere, 1 stream         ${summary(one)}`)
  console.log(`emit → subscribe elsewhere, 10 streams       ${summary(ten)}`)
  worker.kill()
  await durably[Symbol.asyncDispose]()
  await server.stop()
}

async function work(url: string): Promise<void> {
  engine(url).durably.start()
  process.send?.('ready')
}

const [url] = process.argv.slice(2)
await (url ? work(url) : measure())
