import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import pg from 'pg'
import { type Check, ok, warn } from './finding.ts'

const ARRIVES_MS_MAX = 2000

/** A pooler in transaction mode accepts LISTEN and delivers nothing: then a worker finds new runs by polling only. */
export const checkNotifications: Check = async ({ durably, place }) => {
  if (place.kind === 'sqlite')
    return ok('notifications', 'a SQLite file has none: other processes find changes by polling, once a second by default')
  const channel = `durably_doctor_${randomUUID().replaceAll('-', '')}`
  const client = new pg.Client({ connectionString: place.at, application_name: 'durably doctor' })
  await client.connect()
  try {
    const arrived = new Promise<boolean>((resolve) => {
      client.once('notification', () => resolve(true))
      setTimeout(() => resolve(false), ARRIVES_MS_MAX).unref()
    })
    await client.query(`LISTEN ${channel}`)
    await sql`SELECT pg_notify(${channel}, '')`.execute(durably.db)
    if (await arrived) return ok('notifications', 'a message of another connection arrived')
    return warn(
      'notifications',
      `LISTEN was accepted, and no message arrived within ${ARRIVES_MS_MAX / 1000} s: a pooler in transaction mode is between`,
      'give postgres(url, { listenUrl }) a URL that leads to the database directly; until then runs start with the next poll',
    )
  } finally {
    await client.end()
  }
}
