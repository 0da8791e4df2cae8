// Each trouble is found, and its remedy named; a healthy database has none.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Finding } from '../src/doctor/finding.ts'
import { cli, openAt, PLACES } from './cli.ts'

async function examined(db: string): Promise<{ code: number; troubles: Record<string, Finding> }> {
  const { code, out } = await cli(['doctor', '--json', '--db', db])
  const findings = JSON.parse(out) as Finding[]
  return { code, troubles: Object.fromEntries(findings.filter(({ state }) => state !== 'ok').map((finding) => [finding.check, finding])) }
}

describe.each(PLACES)('on $name', ({ create }) => {
  test('a healthy database has no trouble', async () => {
    const db = await create()
    const durably = await openAt(db)
    const job = durably.defineJob({ name: 'fine', input: z.object({}) }, async () => null)
    await job.trigger({})
    await durably.processUntilIdle()
    await job.trigger({})
    expect(await examined(db)).toEqual({ code: 0, troubles: {} })
    expect((await cli(['doctor', '--db', db])).out).toMatch(/^✓ schema +version \d+$/m)
  })

  test('runs that nobody executes, a lost worker, a late schedule and a crash loop are found', async () => {
    const db = await create()
    const durably = await openAt(db)
    const job = durably.defineJob({ name: 'alone', input: z.object({}) }, async () => null)
    const [due, lost, looped] = await job.batchTrigger([{ payload: {} }, { payload: {} }, { payload: {} }])
    const late = Date.now() - 600_000
    const before = new Date(late).toISOString()
    await durably.schedule({ job, every: '1h', payload: {} })
    await durably.db.updateTable('schedules').set({ next_at: late }).execute()
    await durably.db
      .updateTable('runs')
      .set({ run_at: late, updated_at: before })
      .where('id', '=', due?.id ?? '')
      .execute()
    await durably.db
      .updateTable('runs')
      .set({
        status: 'running',
        lease_owner: 'gone',
        lease_expires_at: late,
        lease_generation: 1,
        started_at: late,
        updated_at: before,
        heartbeat_at: before,
      })
      .where('id', '=', lost?.id ?? '')
      .execute()
    await durably.db
      .updateTable('runs')
      .set({ status: 'failed', reason: 'crash_loop', error: 'lost', finished_at: Date.now() })
      .where('id', '=', looped?.id ?? '')
      .execute()
    const { code, troubles } = await examined(db)
    expect(code).toBe(1)
    expect(Object.keys(troubles).sort()).toEqual(['crash loops', 'due runs', 'failed runs', 'lost workers', 'schedules'])
    expect(troubles['due runs']).toMatchObject({ state: 'bad', what: expect.stringContaining(`1 of alone for up to 10m (${due?.id})`) })
    expect(troubles['due runs']?.remedy).toMatch(/^start a worker: durably worker '<file that defines alone>' --db /)
    expect(troubles['due runs']?.remedy).toContain(`durably explain ${due?.id} --db `)
    expect(troubles['lost workers']?.what).toMatch(/^1 run lost its worker and nobody took over: /)
    expect(troubles['failed runs']).toMatchObject({
      state: 'warn',
      what: expect.stringMatching(/^1 run failed within the last day; .*: "lost"$/),
    })
    expect(troubles['crash loops']?.what).toMatch(/^1 run of the last day failed /)
    expect(troubles['lost workers']?.what).toContain(lost?.id)
    expect(troubles['crash loops']?.remedy).toContain(`durably retry ${looped?.id}`)
    expect(troubles.schedules?.what).toMatch(/^1 is late, alone by 10m.* fires it$/)
  })

  test('tables that are too new are the only finding', async () => {
    const db = await create()
    const durably = await openAt(db)
    await durably.db.insertInto('schema_versions').values({ version: 99, applied_at: 'later', oldest_code: 99 }).execute()
    const { code, troubles } = await examined(db)
    expect(code).toBe(1)
    expect(Object.keys(troubles)).toEqual(['schema'])
    expect(troubles.schema?.remedy).toContain('npm install @coji/durably@latest')
  })
})
