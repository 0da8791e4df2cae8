// Real death around ctx.transaction: a process is killed (SIGKILL) at every statement that the life of a run has, another
// process goes on, and everything is there once. The control shows that the same killing finds what is there twice.
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { temporaryDatabase } from '../postgres/place.ts'
import { temporaryDirectory } from '../sql/place.ts'
import { bundleChild } from '../sql/processes.ts'
import { type How, openBookings, type Place } from './bookings.ts'
import type { Doom } from './fixtures/doomed-worker.ts'
import type { Death } from './mortal-dialect.ts'

/** A transaction may take a third of it, also on a machine that does other things. */
const LEASE_MS = 2000
const PROCESSES_MAX = 3
const TEST_MS = 120_000

let program: string
beforeAll(async () => {
  program = await bundleChild('doomed-worker', fileURLToPath(new URL('./fixtures/doomed-worker.ts', import.meta.url)))
})

interface Ending {
  signal: NodeJS.Signals | null
  /** Of one that survived. */
  statements: readonly string[]
}

async function live(doom: Omit<Doom, 'staleThreshold'>): Promise<Ending> {
  const child = fork(program, [JSON.stringify({ ...doom, staleThreshold: LEASE_MS } satisfies Doom)], { execArgv: ['--no-warnings'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let statements: string[] = []
  child.on('message', (message) => {
    statements = message as string[]
  })
  return new Promise((resolve) => child.once('exit', (_, signal) => resolve({ signal, statements })))
}

/** What another process finds when it has gone on with everything. */
async function goOn(place: Place, how: How) {
  const { durably, book, mail, migrate, notes } = openBookings(place, { how, staleThreshold: 30_000 })
  onTestFinished(() => durably[Symbol.asyncDispose]())
  await migrate()
  durably.start()
  const statuses = async () => (await durably.getRuns()).map(({ status }) => status)
  await expect.poll(async () => new Set(await statuses()), { timeout: 60_000, interval: 100 }).toEqual(new Set(['completed']))
  const [run] = await book.getRuns()
  const steps = run ? (await durably.getSteps(run.id)).map(({ name, status }) => `${name} ${status}`) : []
  const mails = (await mail.getRuns()).map(({ output }) => output)
  await durably.stop()
  return { notes: await notes(), mails, steps, output: run?.output }
}

interface World {
  /** An empty place. */
  place(): Place
  deaths: readonly Death[]
}

const WORLDS: { name: string; open(): Promise<World> }[] = [
  {
    name: 'SQLite',
    async open() {
      const directory = temporaryDirectory()
      let files = 0
      // Its driver answers in the same turn: nothing is ever under way.
      return { place: () => ({ database: `${directory}/${++files}.db`, tablePrefix: '' }), deaths: ['killed before'] }
    },
  },
  {
    name: 'Postgres',
    async open() {
      const database = await temporaryDatabase()
      let prefixes = 0
      return { place: () => ({ database, tablePrefix: `p${++prefixes}_` }), deaths: ['killed before', 'killed when sent'] }
    },
  },
]

/** Kills one process at each of these, a few at a time, and says what was found after each. */
async function killAt(world: World, how: How, statements: readonly [number, string][]) {
  const waiting = statements.flatMap(([at, sql]) => world.deaths.map((death) => ({ at, death, sql: sql.slice(0, 40) })))
  const found: Promise<unknown>[] = []
  const kill = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { sql, ...doom } = next
      const place = world.place()
      const { signal } = await live({ place, how, ...doom })
      // Its lease has to end first; the next process need not wait for that.
      found.push(goOn(place, how).then((end) => ({ ...doom, sql, signal, ...end })))
    }
  }
  await Promise.all(Array.from({ length: PROCESSES_MAX }, kill))
  return (await Promise.all(found)) as ({ signal: unknown; at: number } & Awaited<ReturnType<typeof goOn>>)[]
}

async function rehearse(world: World, how: How): Promise<[number, string][]> {
  const { signal, statements } = await live({ place: world.place(), how, at: -1, death: 'killed before' })
  expect(signal).toBe(null)
  return [...statements.entries()]
}

const ONCE = { notes: ['one back', 'one there'], mails: ['mailed one'], steps: ['book completed'], output: 'booked' }

describe.each(WORLDS)('on $name', ({ open }) => {
  test(
    'killed at any statement of its life, a transaction takes place once, and so does what it triggered',
    async () => {
      const world = await open()
      const statements = await rehearse(world, 'in one transaction')
      const life = statements.map(([, sql]) => sql)
      // From the look for work over the claim, the transaction with both rows, the new run and the step, to the end.
      expect(life.filter((sql) => /insert into "\w*bookings"/i.test(sql))).toHaveLength(2)
      expect(life.findIndex((sql) => /^commit/i.test(sql))).toBeGreaterThan(0)
      expect(life.length).toBeGreaterThan(8)
      const found = await killAt(world, 'in one transaction', statements)
      expect(found).toHaveLength(statements.length * world.deaths.length)
      for (const end of found) expect(end).toMatchObject({ signal: 'SIGKILL', ...ONCE })
    },
    TEST_MS,
  )

  test(
    'rows that commit before their step are there twice after one of these deaths',
    async () => {
      const world = await open()
      const statements = await rehearse(world, 'apart')
      const last = statements.findLastIndex(([, sql]) => /insert into "\w*bookings"/i.test(sql))
      const found = await killAt({ ...world, deaths: ['killed before'] }, 'apart', statements.slice(last, last + 5))
      expect(found.filter(({ notes }) => notes.length === 2)).not.toHaveLength(0)
      expect(found.filter(({ notes, mails }) => notes.length === 4 && mails.length === 2)).not.toHaveLength(0)
    },
    TEST_MS,
  )
})
