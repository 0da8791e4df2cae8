// LeaderStorm — processes on one database, of which the leader is suspended past its lease again and again, and others are killed, while schedules
// fire every second and the leader chooses the worker of each run.
//   - With `misfire: 'all'`, each second from the first to the last one that was used must have exactly one run.
//   - With `misfire: 'once'`, no second may have two, and none may be missing while the same process leads and is awake.
//   - A leader that was replaced while it was suspended is refused, and reports it.
//   - No run is executed by two processes at once, and every run ends. Leases are longer than a pause, so that only those of killed processes end.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDurably, type Durably } from '../../../packages/durably/dist/index.js'
import { postgres } from '../../../packages/durably/dist/postgres/index.js'
import { sqlite } from '../../../packages/durably/dist/sqlite/index.js'
import { doubledExecutions } from './doubled-executions.ts'
import { StormCrew } from './storm-crew.ts'

/** A lease of the leader, and a second. */
const PAUSE_S = 11
/** When a worker is killed, after the leader was suspended: while nobody leads, or while the next leader makes up for what was missed. */
const KILL_AFTER_MS = [3000, 10_300]
const SECOND_MS = 1000
/** A lease of a run, the entry of a worker, and some time to work through what waits. */
const END_MS_MAX = 120_000

export interface StormOptions {
  /** How often the leader is suspended. */
  pauses: number
  /** Whether workers are killed and replaced: one in each pause, and after each third one the leader. */
  kills: boolean
  workers: number
}

export interface LeaderStorm {
  seconds: number
  /** How often another process took the lead. */
  changes: number
  /** How often a process was suspended, replaced and refused, and how many of these did not report it. */
  deposed: number
  unreported: number
  killed: number
  /** The longest time between the end of a leader's lease and the next election that was seen, in milliseconds. */
  leaderlessMs: number
  /** Reports of a locked database. */
  busy: number
  /** Errors of workers that nobody expects. */
  troubles: string[]
  /** The seconds that have a run, in order, by the schedule. */
  all: number[]
  once: number[]
  /** Runs that were executed by two processes at once. */
  doubled: string[]
  /** Executions of all runs, and runs that lost a worker. */
  executions: number
  reclaimed: number
  /** Runs that have not completed in the end. */
  unfinished: string[]
}

/** `place`: the URL of a Postgres database, or an SQLite file. */
export async function leaderStorm(place: string, { pauses, kills, workers }: StormOptions): Promise<LeaderStorm> {
  const isPostgres = place.startsWith('postgres')
  const folder = mkdtempSync(join(tmpdir(), 'durably-storm-'))
  const ledger = join(folder, 'executions')
  writeFileSync(ledger, '')
  const durably = createDurably({ dialect: isPostgres ? postgres(place) : sqlite(place, { durability: 'relaxed' }), logger: false })
  const crew = new StormCrew(place, ledger)
  try {
    await durably.migrate()
    for (const misfire of ['all', 'once'] as const) await durably.schedule(misfire, { job: 'tick', every: '1s', misfire, misfireMax: 1000 })
    for (let i = 0; i < workers; i++) crew.start(`worker ${i}`)
    const began = Date.now()
    const stirred = await stir(durably, crew, { pauses, kills, workers })
    for (const id of ['all', 'once']) await durably.schedules.pause(id)
    const unfinished = await untilEnded(durably)
    const [all, once] = [await secondsOf(durably, 'all'), await secondsOf(durably, 'once')]
    const seconds = Math.round((Date.now() - began) / SECOND_MS)
    await crew.end()
    const { doubled, executions, reclaimed } = doubledExecutions(readFileSync(ledger, 'utf8'), crew.killedAt)
    return { seconds, ...stirred, troubles: crew.troubles, busy: crew.busy, all, once, doubled, executions, reclaimed, unfinished }
  } finally {
    await crew.end()
    await durably[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function stir(durably: Durably, crew: StormCrew, { pauses, kills, workers }: StormOptions) {
  const first = await someLeader(durably)
  const done = { deposed: 0, unreported: 0, killed: 0, leaderlessMs: 0 }
  let started = workers
  const replace = async (name: string) => {
    await crew.kill(name)
    done.killed++
    crew.start(`worker ${started++}`)
  }
  for (let i = 0; i < pauses; i++) {
    const leader = await leadingIn(durably, crew)
    const reported = crew.deposed(leader.workerId)
    const suspended = crew.suspend(leader.workerId, PAUSE_S)
    const endsAt = Date.parse((await someLeader(durably)).expiresAt)
    await sleep(KILL_AFTER_MS[i % KILL_AFTER_MS.length])
    const others = crew.names.filter((name) => name !== leader.workerId)
    const victim = others[i % others.length]
    if (kills && victim) await replace(victim)
    await suspended
    await sleep(SECOND_MS)
    const next = await someLeader(durably)
    if (next.epoch !== leader.epoch) {
      done.deposed++
      done.leaderlessMs = Math.max(done.leaderlessMs, Date.parse(next.electedAt) - endsAt)
      if (!(await crew.reportsDeposed(leader.workerId, reported))) done.unreported++
    }
    if (kills && i % 3 === 2) await replace((await leadingIn(durably, crew)).workerId)
  }
  return { ...done, changes: (await someLeader(durably)).epoch - first.epoch }
}

async function someLeader(durably: Durably) {
  for (;;) {
    const leader = await durably.leader()
    if (leader) return leader
    await sleep(SECOND_MS)
  }
}

/** A leader whose lease has not ended, and whose process lives. */
async function leadingIn(durably: Durably, crew: StormCrew) {
  for (;;) {
    const leader = await someLeader(durably)
    if (leader.isLeading && crew.names.includes(leader.workerId)) return leader
    await sleep(SECOND_MS / 5)
  }
}

/** The runs that have not completed, once nothing is open any more or the time is over. */
async function untilEnded(durably: Durably): Promise<string[]> {
  for (const latest = Date.now() + END_MS_MAX; Date.now() < latest; await sleep(SECOND_MS))
    if ((await durably.getRuns({ status: ['pending', 'running'], limit: 1 })).length === 0) break
  const left = await durably.getRuns({ status: ['pending', 'running', 'failed', 'cancelled'] })
  return left.map(({ id, phase, error }) => `${id} ${phase} ${error ?? ''}`)
}

async function secondsOf(durably: Durably, scheduleId: string): Promise<number[]> {
  const runs = await durably.getRuns({ scheduleId })
  return runs.map(({ scheduledFor }) => Date.parse(scheduledFor ?? '') / SECOND_MS).sort((a, b) => a - b)
}
