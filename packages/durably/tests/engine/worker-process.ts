// A real worker process that the test may kill, and what it tells over its channel.
import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import { createDurably } from '../../src/durably.ts'
import { sqlite } from '../../src/sqlite/index.ts'

const WORKER = fileURLToPath(new URL('./fixtures/worker.mjs', import.meta.url))

export type Message =
  | { type: 'ready' }
  | { type: 'hanging' }
  | { type: 'run:start'; at: number }
  | { type: 'step:complete'; stepName: string }
  | { type: 'run:complete'; output: string[] }
  | { type: 'worker:error'; error: string }

export interface WorkerProcess {
  pid: number
  messages: Message[]
  kill(signal: NodeJS.Signals): void
  /** Resolves with the first message that fits, also one that has already come. */
  told<T extends Message['type']>(
    type: T,
    fits?: (message: Extract<Message, { type: T }>) => boolean,
  ): Promise<Extract<Message, { type: T }>>
  exited: Promise<unknown>
}

/** A database file, a ledger, and a durably instance of the test's own that runs no worker. */
export async function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'durably-killed-'))
  const file = join(folder, 'test.db')
  const ledger = join(folder, 'ledger.txt')
  writeFileSync(ledger, '')
  const durably = createDurably({ dialect: sqlite(file) })
  const job = durably.defineJob(
    { name: 'long', input: z.object({ steps: z.number(), stepMs: z.number() }) },
    async (): Promise<string[]> => [],
  )
  await durably.migrate()
  onTestFinished(async () => {
    await durably[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    durably,
    job,
    /** Which process ran which step, in order. */
    ran: () => readFileSync(ledger, 'utf8').split('\n').filter(Boolean),
    /** One that hangs in a step, if asked to: where the test kills it is then no accident. */
    startWorker: (hangsAt?: number) => startWorker(hangsAt === undefined ? [file, ledger] : [file, ledger, String(hangsAt)]),
  }
}

async function startWorker(args: string[]): Promise<WorkerProcess> {
  const child = fork(WORKER, args, { execArgv: ['--no-warnings'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const worker = workerProcess(child)
  await worker.told('ready')
  return worker
}

function workerProcess(child: ChildProcess): WorkerProcess {
  const messages: Message[] = []
  const listeners = new Set<(message: Message) => void>()
  child.on('message', (message: Message) => {
    messages.push(message)
    for (const listener of listeners) listener(message)
  })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  return {
    pid: child.pid ?? 0,
    messages,
    exited,
    kill: (signal) => void child.kill(signal),
    told: (type, fits = () => true) =>
      new Promise((resolve, reject) => {
        const look = (message: Message) => {
          const asked = message as Extract<Message, { type: typeof type }>
          if (message.type !== type || !fits(asked)) return
          listeners.delete(look)
          resolve(asked)
        }
        listeners.add(look)
        for (const message of messages) look(message)
        void exited.then(() => reject(new Error(`worker ${child.pid} exited before it told ${type}; was packages/durably built?`)))
      }),
  }
}
