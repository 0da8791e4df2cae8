// Interleaving — two connections on one file, one of which is held before each of its statements in turn while the other
// does its work. What a simulator takes as one call is taken apart here.
//   L1. Virtual time and a hand on every statement: the same race goes the same way each time.
//   L2. The second goes on until it is done or meets the first one's lock; then the first is let go.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CompiledQuery, type DatabaseConnection, type Dialect } from 'kysely'
import type { SqlStore } from '../../../packages/durably/dist/store/sql/sql-store.js'
import { checkInvariants, readRows } from '../../../packages/durably/dist/testing/invariants/index.js'
import type { World } from '../../../packages/durably/dist/testing/store-contract/chapter.js'
import { virtualEnv } from '../../../packages/durably/dist/testing/virtual-env.js'
import type { Engine } from '../engine-build.ts'

/** Two processes' view of one database. */
export interface Two {
  one: World & { store: SqlStore }
  other: World & { store: SqlStore }
}

export interface Race<State, First, Second> {
  arrange(two: Two): Promise<State>
  /** Held before each of its statements. */
  first(world: World, state: State): Promise<First>
  /** Done meanwhile. */
  second(world: World, state: State): Promise<Second>
  /** Whether the two were answered what fits together. */
  fits(first: First, second: Second): boolean
}

/** What went wrong, by the statement before which the first was held. */
export type Raced = { heldBefore: string; broken: string[] }[]

const STATEMENTS_MAX = 30
/** A race is not over while runs are unfinished: what must hold at any moment counts. */
const UNFINISHED = new Set(['I5', 'I15'])

export async function race<State, First, Second>(
  engine: Pick<Engine, 'sqlStore' | 'sqlite'>,
  { arrange, first, second, fits }: Race<State, First, Second>,
  dropIndex: string | null = null,
): Promise<Raced> {
  const raced: Raced = []
  for (let statement = 0; statement < STATEMENTS_MAX; statement++) {
    const { two, hands, close } = await openTwo(engine)
    try {
      if (dropIndex !== null) await two.one.store.db.executeQuery(CompiledQuery.raw(`DROP INDEX ${dropIndex}`))
      const state = await arrange(two)
      const [hand, otherHand] = hands
      hand.holdBefore(statement)
      const firstDone = outcomeOf(first(two.one, state))
      await until(two, () => hand.held !== null || firstDone.settled)
      const heldBefore = hand.held
      const secondDone = outcomeOf(second(two.other, state))
      await until(two, () => otherHand.metLock || secondDone.settled)
      hand.letGo()
      await until(two, () => firstDone.settled && secondDone.settled)
      const broken = await misfit(firstDone.result, secondDone.result, fits)
      raced.push({ heldBefore: heldBefore ?? 'nothing', broken: [...broken, ...(await brokenInvariants(two.one))] })
      if (heldBefore === null) return raced
    } finally {
      await close()
    }
  }
  throw new Error(`a race takes more than ${STATEMENTS_MAX} statements`)
}

async function openTwo({ sqlStore, sqlite }: Pick<Engine, 'sqlStore' | 'sqlite'>) {
  const folder = mkdtempSync(join(tmpdir(), 'durably-race-'))
  const env = virtualEnv()
  const hands = [new Hand(), new Hand()] as const
  const open = (hand: Hand) => ({
    env,
    store: sqlStore({ dialect: hand.on(sqlite(join(folder, 'durably.db'), { busyTimeoutMs: 1, durability: 'relaxed' })), env }),
  })
  const two: Two = { one: open(hands[0]), other: open(hands[1]) }
  await two.one.store.migrate()
  await two.other.store.runs.list({})
  const close = async () => {
    await two.one.store.close()
    await two.other.store.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return { two, hands, close }
}

/** Lets promises settle and, for statements that wait for a lock, time pass. */
async function until({ one: { env } }: Two, done: () => boolean): Promise<void> {
  for (let turns = 0; !done(); turns++) {
    if (turns === 10_000) throw new Error('a race does not come to its end')
    await env.advance(1)
  }
}

function outcomeOf<T>(result: Promise<T>): { settled: boolean; result: Promise<T> } {
  const outcome = { settled: false, result }
  const settle = () => {
    outcome.settled = true
  }
  result.then(settle, settle)
  return outcome
}

async function misfit<First, Second>(
  first: Promise<First>,
  second: Promise<Second>,
  fits: (first: First, second: Second) => boolean,
): Promise<string[]> {
  const [one, other] = await Promise.allSettled([first, second])
  const rejected = [one, other].filter((result) => result.status === 'rejected').map(({ reason }) => `rejected: ${reason}`)
  if (one.status === 'rejected' || other.status === 'rejected') return rejected
  return fits(one.value, other.value) ? [] : ['the answers do not fit together']
}

async function brokenInvariants({ store }: World): Promise<string[]> {
  const rows = await readRows(store)
  const history = { ...rows, ledger: { executions: [], effects: [] }, acknowledged: [], maxRecoveries: 10, faultFree: false }
  return checkInvariants(history)
    .filter(({ invariant }) => !UNFINISHED.has(invariant))
    .map(({ invariant, what }) => `${invariant}: ${what}`)
}

/** A hand on the statements of one connection. */
class Hand {
  #statements: number | null = null
  #holdBefore = -1
  #letGo: () => void = () => {}
  /** The statement that waits. */
  held: string | null = null
  metLock = false

  /** Counts from now on. */
  holdBefore(statement: number): void {
    this.#statements = 0
    this.#holdBefore = statement
  }

  letGo(): void {
    this.#statements = null
    this.#letGo()
  }

  on(dialect: Dialect): Dialect {
    const guided = new WeakSet<DatabaseConnection>()
    return {
      createDriver: () => {
        // A driver that runs a transaction within one call could not be held. These are the same statements, in the same order.
        const driver = Object.assign(dialect.createDriver(), { executeNow: undefined })
        const acquire = driver.acquireConnection.bind(driver)
        driver.acquireConnection = async () => {
          const connection = await acquire()
          if (!guided.has(connection)) this.#guide(connection)
          guided.add(connection)
          return connection
        }
        return driver
      },
      createQueryCompiler: () => dialect.createQueryCompiler(),
      createAdapter: () => dialect.createAdapter(),
      createIntrospector: (db) => dialect.createIntrospector(db),
    }
  }

  #guide(connection: DatabaseConnection): void {
    const execute = connection.executeQuery.bind(connection)
    connection.executeQuery = async <R>(query: CompiledQuery) => {
      if (this.#statements !== null && this.#statements++ === this.#holdBefore) {
        this.held = query.sql
        await new Promise<void>((resolve) => {
          this.#letGo = resolve
        })
      }
      try {
        return await execute<R>(query)
      } catch (error) {
        this.metLock ||= /locked/.test(String(error))
        throw error
      }
    }
  }
}
