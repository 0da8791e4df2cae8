// LeaderStorm — three processes on one database, of which the leader is suspended past its lease again and again, while schedules fire every
// second.
//   - With `misfire: 'all'`, each second from the first to the last one that was used must have exactly one run.
//   - With `misfire: 'once'`, no second may have two, and none may be missing while the same process leads and is awake.
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDurably, type Durably } from '../../../packages/durably/dist/index.js'
import { postgres } from '../../../packages/durably/dist/postgres/index.js'
import { sqlite } from '../../../packages/durably/dist/sqlite/index.js'
import { REPO } from '../engine-build.ts'

/** The compiled file, also when the parent runs from its source. */
const WORKER = join(REPO, 'proof', 'dist', 'schedules', 'worker.js')
const WORKERS = 3
/** A lease of the leader, and a second. */
const PAUSE_S = 11
const SECOND_MS = 1000

export interface LeaderStorm {
  /** How often another process took the lead. */
  changes: number
  /** How often a process learnt that it was deposed. */
  deposed: number
  /** Errors of workers that nobody expects. */
  troubles: string[]
  /** The seconds that have a run, in order, by the schedule. */
  all: number[]
  once: number[]
}

/** `place`: the URL of a Postgres database, or an SQLite file. */
export async function leaderStorm(place: string, pauses: number): Promise<LeaderStorm> {
  const isPostgres = place.startsWith('postgres')
  const durably = createDurably({ dialect: isPostgres ? postgres(place) : sqlite(place, { durability: 'relaxed' }), logger: false })
  await durably.migrate()
  for (const misfire of ['all', 'once'] as const) await durably.schedule(misfire, { job: 'tick', every: '1s', misfire, misfireMax: 1000 })
  const codes: string[] = []
  const workers = new Map(Array.from({ length: WORKERS }, (_, i) => [`worker ${i}`, startWorker(place, `worker ${i}`, codes)]))
  try {
    while ((await leaderOf(durably)).epoch === 0) await sleep(SECOND_MS)
    const first = (await leaderOf(durably)).epoch
    for (let i = 0; i < pauses; i++) {
      await pause(workers.get((await leaderOf(durably)).name))
      await sleep(SECOND_MS)
    }
    for (const { connected, pid } of workers.values()) if (!connected) codes.push(`process ${pid} ended by itself`)
    const { epoch } = await leaderOf(durably)
    const [all, once] = [await secondsOf(durably, 'all'), await secondsOf(durably, 'once')]
    const troubles = codes.filter((code) => !['started', 'leader_deposed', 'store_busy'].includes(code))
    return { changes: epoch - first, deposed: codes.filter((code) => code === 'leader_deposed').length, troubles, all, once }
  } finally {
    for (const worker of workers.values()) worker.kill('SIGKILL')
    await durably[Symbol.asyncDispose]()
  }
}

function startWorker(place: string, name: string, codes: string[]): ChildProcess {
  const child = fork(WORKER, [place, name], { execArgv: ['--no-warnings'] })
  child.on('message', (code) => void codes.push(String(code)))
  return child
}

async function leaderOf({ db }: Durably): Promise<{ epoch: number; name: string }> {
  const row = await db.selectFrom('leaders').select(['epoch', 'worker_id']).executeTakeFirst()
  return { epoch: Number(row?.epoch ?? 0), name: row?.worker_id ?? '' }
}

/** By a process of its own, so that a parent that dies leaves no suspended process. */
async function pause(worker: ChildProcess | undefined): Promise<void> {
  if (!worker) throw new Error('nobody leads')
  const script = 'kill -STOP "$0"; sleep "$1"; kill -CONT "$0"'
  await once(spawn('sh', ['-c', script, `${worker.pid}`, `${PAUSE_S}`], { stdio: 'ignore' }), 'exit')
}

async function secondsOf(durably: Durably, scheduleId: string): Promise<number[]> {
  const runs = await durably.getRuns({ scheduleId })
  return runs.map(({ scheduledFor }) => Date.parse(scheduledFor ?? '') / SECOND_MS).sort((a, b) => a - b)
}
