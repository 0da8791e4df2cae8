// The clock jumps, and leases with it: also one that a process writes which asked for the time before.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { DevClock } from '../src/dev/clock.ts'
import { jump, prepareJumps } from '../src/dev/clock-jump.ts'
import { openAt, temporaryFolder } from './cli.ts'

const HOUR_MS = 3_600_000

async function setup() {
  const db = join(temporaryFolder(), 'test.db')
  const durably = await openAt(db)
  await prepareJumps(durably)
  const clock = new DevClock(db)
  const job = durably.defineJob({ name: 'held', input: z.object({}) }, async () => null)
  const { id } = await job.trigger({})
  const setLease = (expiresAt: number | null) =>
    durably.db.updateTable('runs').set({ status: 'running', lease_owner: 'w', lease_expires_at: expiresAt }).where('id', '=', id).execute()
  const lease = async () => (await durably.db.selectFrom('runs').select('lease_expires_at').executeTakeFirstOrThrow()).lease_expires_at
  return { db, durably, clock, setLease, lease }
}

test('a lease moves with the clock, one that is over stays over, and all processes have the same offset', async () => {
  const { db, durably, clock, setLease, lease } = await setup()
  const end = Date.now() + 2000
  await setLease(end)
  await jump(durably, clock, HOUR_MS)
  expect(await lease()).toBe(end + HOUR_MS)
  await jump(durably, clock, HOUR_MS)
  expect(await lease()).toBe(end + 2 * HOUR_MS)
  expect(new DevClock(db).offsetMs).toBe(2 * HOUR_MS)

  const over = Date.now() - 1000
  await sql`UPDATE dev_clock SET jumped_to = 0`.execute(durably.db)
  await setLease(over)
  await jump(durably, clock, HOUR_MS)
  expect(await lease()).toBe(over + HOUR_MS)
})

test('a lease that was reckoned before the jump and is written after it moves, too', async () => {
  const { durably, clock, setLease, lease } = await setup()
  const reckoned = Date.now() + 2000
  await jump(durably, clock, HOUR_MS)
  await setLease(reckoned)
  expect(await lease()).toBe(reckoned + HOUR_MS)
  const fresh = clock.now() + 2000
  await setLease(fresh)
  expect(await lease()).toBe(fresh)
})

test('a file that is seen half written is read again, and a damaged one is an error', async () => {
  const { db, clock } = await setup()
  clock.set(42)
  expect(clock.offsetMs).toBe(42)
  writeFileSync(`${db}.clock`, '00000000000000010000000000000002')
  expect(() => clock.offsetMs).toThrow('is damaged; delete it')
})
