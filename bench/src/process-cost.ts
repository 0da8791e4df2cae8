// What a child process and its database have used: so that a figure on a busy machine says something, also where times do not.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import pg from 'pg'

export interface Used {
  rssBytes: number
  cpuMs: number
}

/** In the child: answers `used`. */
export function answerUse(): void {
  process.on('message', () => {
    globalThis.gc?.()
    const { user, system } = process.cpuUsage()
    process.send?.({ rssBytes: process.memoryUsage().rss, cpuMs: (user + system) / 1000 } satisfies Used)
  })
}

export async function used(child: ChildProcess): Promise<Used> {
  child.send('used')
  const [answer] = (await once(child, 'message')) as [Used]
  return answer
}

/** A connection reports what it did a second later. */
const REPORTED_MS = 2000

/** How many transactions the database has made: each statement by itself is one. */
export async function transactions(url: string): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, REPORTED_MS))
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query('SELECT xact_commit AS n FROM pg_stat_database WHERE datname = current_database()')
  await client.end()
  return Number(rows[0]?.n)
}
