// Streaming: a reader follows a text while it is written. The worker dies in the middle of a sentence, the next one continues from the
// last checkpoint, and the reader, a separate process, sees each sentence once.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createDurably, emptyRunView, reduceRun } from '@coji/durably'
import { sqlite } from '@coji/durably/sqlite'
import { z } from 'zod'

const SENTENCES = ['The fox runs.', 'The dog sleeps.', 'The end.']

const [folder, crash] = process.argv.slice(2)
if (folder) await work(folder, crash === 'crash')
else await read(mkdtempSync(join(tmpdir(), 'durably-')))

function open(folder: string, crashes = false) {
  // A short lease, so that the example need not wait 30 seconds until the lease of the dead worker expires.
  const durably = createDurably({ dialect: sqlite(join(folder, 'app.db')), staleThreshold: 1000, pollingInterval: 50 })
  const tell = durably.defineJob({ name: 'tell', input: z.object({}) }, async (ctx) => {
    await ctx.stream<void, number>('story', async (emit, checkpoint) => {
      for (let i = checkpoint.state ?? 0; i < SENTENCES.length; i++) {
        for (const word of SENTENCES[i]?.split(' ') ?? []) {
          await emit(`${word} `)
          await pause(20)
          if (crashes && word === 'dog') await die()
        }
        await checkpoint(i + 1)
      }
    })
  })
  return { durably, tell }
}

/** Waits until the words so far are stored, so that there is something to remove. */
async function die(): Promise<void> {
  await pause(500)
  process.kill(process.pid, 'SIGKILL')
}

async function work(folder: string, crashes: boolean): Promise<void> {
  const { durably } = open(folder, crashes)
  durably.start({ handleSignals: true })
  process.on('disconnect', () => durably[Symbol.asyncDispose]())
}

async function read(folder: string): Promise<void> {
  const { durably, tell } = open(folder)
  await durably.migrate()
  const run = await tell.trigger({})
  const start = (...args: string[]) => fork(fileURLToPath(import.meta.url), [folder, ...args], { execArgv: ['--no-warnings'] })
  const first = start('crash')
  const second = once(first, 'exit').then(() => start())

  let view = emptyRunView
  for await (const event of durably.subscribe(run.id)) {
    view = reduceRun(view, event)
    const text = view.streams.story?.text
    if (event.type === 'run:start') console.log('a worker starts')
    if (event.type === 'run:reclaim') console.log(`it is lost at: ${text}`)
    if (event.type === 'stream:reset') console.log(`taken back to: ${text}`)
    if (event.type === 'run:complete') console.log(`completed:     ${text}`)
  }

  const worker = await second
  const gone = once(worker, 'exit')
  worker.disconnect()
  await gone
  await durably[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
}
