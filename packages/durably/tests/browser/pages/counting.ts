// The program of the tests that reload, kill and double tabs: a job that records steps, on the dialect that the address names
// (`?dialect=sqlocal`). It tells the test what it does, at once and one way: what was told has happened.
import { type Dialect, sql } from 'kysely'
import { SQLocalKysely } from 'sqlocal/kysely'
import { z } from 'zod'
import { createDurably, type Durably, type DurablyOptions, type Run } from '../../../src/index.ts'

const DIALECTS: { [name: string]: () => Dialect } = {
  sqlocal: () => new SQLocalKysely('durably.sqlite3').dialect,
}

export interface Told {
  /** The function of a step ran; its result was recorded; the worker met an error that is no fault of the job. */
  what: 'executed' | 'recorded' | 'error'
  text: string
  /** By the clock of the machine. */
  at: number
}

export interface Counting {
  /** Rejects as `migrate()` does. */
  open(options?: Omit<DurablyOptions, 'dialect' | 'store'>): Promise<void>
  start(): void
  trigger(payload: { steps: number; bytes: number }): Promise<string>
  run(id: string): Promise<Run | null>
  /** Names of the completed ones. */
  steps(id: string): Promise<string[]>
  /** Of the database file; empty for one in memory. */
  file(): Promise<string>
  integrity(): Promise<string>
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
  return durably.defineJob({ name: 'count', input: z.object({ steps: z.number(), bytes: z.number() }) }, async (ctx, { steps, bytes }) => {
    for (let i = 0; i < steps; i++) {
      await ctx.run(`step ${i}`, () => {
        say('executed', `step ${i}`)
        return 'x'.repeat(bytes)
      })
      say('recorded', `step ${i}`)
    }
  })
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
    count = defineCount(durably)
    await durably.migrate()
  },
  start: () => durably.start(),
  trigger: async (payload) => (await count.trigger(payload)).id,
  run: (id) => durably.getRun(id),
  steps: async (id) => (await durably.getSteps(id)).filter(({ status }) => status === 'completed').map(({ name }) => name),
  file: () => firstColumn('database_list', 'file'),
  integrity: () => firstColumn('integrity_check', 'integrity_check'),
}
