// The program of the tests that reload, kill and double tabs: a job that records steps, on the dialect that the address names
// (`?dialect=browser`). It tells the test what it does, at once and one way: what was told has happened.
import { type Dialect, sql } from 'kysely'
import { SQLocalKysely } from 'sqlocal/kysely'
import { z } from 'zod'
import { browserDialect } from '../../../src/browser/index.ts'
import { type Capabilities, createDurably, type Durably, type DurablyOptions, type Run } from '../../../src/index.ts'

const DIALECTS: { [name: string]: () => Dialect } = {
  browser: () => browserDialect('app'),
  sqlocal: () => new SQLocalKysely('durably.sqlite3').dialect,
}

export interface Told {
  /** The function of a step ran; its result was recorded; the worker met an error that is no fault of the job; it leads, or waits. */
  what: 'executed' | 'recorded' | 'error' | 'lead'
  text: string
  /** By the clock of the machine. */
  at: number
}

interface Payload {
  steps: number
  bytes: number
  /** How long each step takes. */
  pauseMs?: number | undefined
}

export interface Counting {
  /** Rejects as `migrate()` does. */
  open(options?: Omit<DurablyOptions, 'dialect' | 'store'>): Promise<void>
  start(): void
  trigger(payload: Payload): Promise<string>
  run(id: string): Promise<Run | null>
  /** Names of the completed ones. */
  steps(id: string): Promise<string[]>
  /** Of the database file; empty for one in memory. */
  file(): Promise<string>
  integrity(): Promise<string>
  capabilities(): Promise<Capabilities>
  /** The types of a run's events, to its end. */
  follow(id: string): Promise<string[]>
  /** Inserts a row and keeps its transaction open for as long as the page lives. */
  holdTransaction(): Promise<void>
  dispose(): Promise<void>
}

declare global {
  var counting: Counting
  /** Given by the test. */
  var tell: ((told: Told) => void) | undefined
}

function say(what: Told['what'], text: string): void {
  globalThis.tell?.({ what, text, at: Date.now() })
}

let durably: Durably
let count: ReturnType<typeof defineCount>

function defineCount(durably: Durably) {
  return durably.defineJob(
    { name: 'count', input: z.object({ steps: z.number(), bytes: z.number(), pauseMs: z.number().optional() }) },
    async (ctx, { steps, bytes, pauseMs = 0 }) => {
      for (let i = 0; i < steps; i++) {
        await ctx.run(`step ${i}`, async () => {
          say('executed', `step ${i}`)
          if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
          return 'x'.repeat(bytes)
        })
        say('recorded', `step ${i}`)
      }
    },
  )
}

async function firstColumn(pragma: string, column: string): Promise<string> {
  const { rows } = await sql<Record<string, string>>`${sql.raw(`PRAGMA ${pragma}`)}`.execute(durably.db)
  return String(rows[0]?.[column])
}

globalThis.counting = {
  async open(options = {}) {
    const dialect = DIALECTS[new URLSearchParams(location.search).get('dialect') ?? '']
    if (!dialect) throw new Error(`${location.search} names no dialect`)
    durably = createDurably({ dialect: dialect(), ...options })
    durably.on('worker:error', ({ error }) => say('error', error))
    durably.on('worker:lead', ({ state }) => say('lead', state))
    count = defineCount(durably)
    await durably.migrate()
  },
  start: () => durably.start(),
  trigger: async (payload) => (await count.trigger(payload)).id,
  run: (id) => durably.getRun(id),
  steps: async (id) => (await durably.getSteps(id)).filter(({ status }) => status === 'completed').map(({ name }) => name),
  file: () => firstColumn('database_list', 'file'),
  integrity: () => firstColumn('integrity_check', 'integrity_check'),
  capabilities: () => durably.capabilities(),
  async follow(id) {
    const types: string[] = []
    for await (const { type } of durably.subscribe(id)) types.push(type)
    return types
  },
  holdTransaction: () =>
    new Promise((resolve, reject) => {
      const held = durably.db.transaction().execute(async (trx) => {
        await sql`CREATE TABLE held (a)`.execute(trx)
        resolve()
        await new Promise(() => {})
      })
      held.catch(reject)
    }),
  dispose: () => durably[Symbol.asyncDispose](),
}
