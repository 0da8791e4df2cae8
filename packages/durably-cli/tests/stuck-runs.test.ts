// What somebody finds who is called at night because one run does not go on: doctor and explain name it, and their commands work when they are pasted.
import { execFileSync } from 'node:child_process'
import { type Durably, type JobContext, retry } from '@coji/durably'
import { cluster } from '@coji/durably/cluster'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import type { Finding } from '../src/doctor/finding.ts'
import { PendingRuns } from '../src/doctor/pending-runs.ts'
import { parsePlace } from '../src/place.ts'
import { cli, openAt, PLACES } from './cli.ts'

const anything = z.unknown()
const MINUTE = 60_000

function define(durably: Durably, name: string, run: (ctx: JobContext) => unknown) {
  return durably.defineJob({ name, input: anything }, run)
}

async function findings(db: string): Promise<Record<string, Finding>> {
  const { out } = await cli(['doctor', '--json', '--db', db])
  return Object.fromEntries((JSON.parse(out) as Finding[]).map((finding) => [finding.check, finding]))
}

/** As if everything had happened earlier. */
async function age(durably: Durably, id: string, ms: number): Promise<void> {
  const at = Date.now() - ms
  await durably.db
    .updateTable('runs')
    .set({ run_at: at, updated_at: new Date(at).toISOString() })
    .where('id', '=', id)
    .execute()
}

/** The printed commands, without what is said before them. */
function commandsIn(text: string): string[] {
  return [...text.matchAll(/durably (?:explain|retry|cancel|signal|decide|run|runs|trigger|worker) .*/g)].map(([command]) => command)
}

/** Gives a printed command as somebody does who pastes it: a real shell makes the words of it. */
function paste(command = ''): ReturnType<typeof cli> {
  const [, ...words] = execFileSync('bash', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1)
  return cli(words)
}

describe.each(PLACES)('on $name', { timeout: 60_000 }, ({ create }) => {
  async function world() {
    const db = await create()
    return { db, durably: await openAt(db), at: ['--db', db] }
  }

  test('a key that a sleeping run holds: who holds it, and what frees it', async () => {
    const { db, durably, at } = await world()
    const nap = define(durably, 'monthly-report', (ctx) => ctx.sleep('month', '30d'))
    const ship = define(durably, 'ship-order', () => null)
    const holder = await nap.trigger(null, { concurrencyKey: 'customer-17', holdKey: true })
    await durably.processUntilIdle()
    const [blocked, younger] = [
      await ship.trigger(null, { concurrencyKey: 'customer-17' }),
      await ship.trigger(null, { concurrencyKey: 'customer-17' }),
    ]
    await age(durably, blocked.id, 10 * MINUTE)
    await age(durably, younger.id, 5 * MINUTE)
    const found = await findings(db)
    expect(found['due runs']?.state).toBe('ok')
    expect(found['held keys']).toMatchObject({
      state: 'warn',
      what: `2 runs wait for a concurrency key that another run has; the oldest, ${blocked.id} of ship-order, for 10m for key "customer-17" of ${holder.id} of monthly-report`,
    })
    const { out } = await paste(found['held keys']?.remedy ?? '')
    expect(out).not.toContain('Nobody has to act')
    expect(out).toMatch(new RegExp(`It goes on by itself when run ${holder.id} has ended, not before `))
    expect((await cli(['runs', '--job', 'ship-order', ...at])).out).toContain('due, has key customer-17')
    expect(await paste(commandsIn(out).at(-1))).toMatchObject({ code: 0, out: `${holder.id}  cancelled\n` })
    const freed = await findings(db)
    expect(freed['held keys']?.state).toBe('ok')
    expect(freed['due runs']?.what).toMatch(/^2 of ship-order for up to 10m/)
  })

  test('a run that executes holds its key, and one that holds its own key waits for nobody', async () => {
    const { db, durably } = await world()
    const nap = define(durably, 'nap', (ctx) => ctx.sleep('nap', '1h'))
    const own = await nap.trigger(null, { concurrencyKey: 'own', holdKey: true })
    await durably.processUntilIdle()
    await age(durably, own.id, 10 * MINUTE)
    const [executing, blocked] = [await nap.trigger(null, { concurrencyKey: 'k' }), await nap.trigger(null, { concurrencyKey: 'k' })]
    await durably.db
      .updateTable('runs')
      .set({ status: 'running', lease_owner: 'w', lease_expires_at: Date.now() + MINUTE, lease_generation: 1, started_at: Date.now() })
      .where('id', '=', executing.id)
      .execute()
    await age(durably, blocked.id, 10 * MINUTE)
    const found = await findings(db)
    expect(found['held keys']?.what).toContain(`1 run waits for a concurrency key that another run has; the oldest, ${blocked.id} of nap`)
    expect(found['due runs']?.what).toContain(`1 of nap for up to 10m (${own.id})`)
  })

  test('a job that nobody has is asked about if its name is near another one', async () => {
    const { db, durably, at } = await world()
    const ship = define(durably, 'ship-order', () => null)
    await ship.batchTrigger(Array.from({ length: 3 }, () => ({ payload: null })))
    await durably.processUntilIdle()
    const elsewhere = await openAt(db)
    const input = { order: 4711, note: "Ada's; $(id)" }
    const options = { labels: { order: '4711', note: 'a b' }, concurrencyKey: '-k', idempotencyKey: 'o 1' }
    const { id } = await define(elsewhere, 'ship-orders', () => null).trigger(input, options)
    await age(durably, id, 10 * MINUTE)
    const question = 'may be a misspelling of "ship-order": 3 runs have that name'
    const { 'due runs': due } = await findings(db)
    expect(due).toMatchObject({ state: 'bad', what: expect.stringContaining(question) })
    expect(commandsIn(due?.remedy ?? '').at(-1)).toBe(`durably explain ${id} --db ${db}`)
    const { out } = await cli(['explain', id, ...at])
    expect(out).toContain('is due, but no worker is in the register, so none is known to have its job')
    expect(out).toContain(question)
    const [worker, cancel, trigger] = commandsIn(out)
    expect(worker).toBe(`durably worker '<file that defines ship-orders>' --db ${db}`)
    expect(await paste(worker)).toMatchObject({ code: 2, err: expect.stringContaining('which stands for a value of yours') })
    expect(out).not.toContain('this process')
    cluster(durably)
    durably.start()
    await vi.waitFor(async () => expect(await durably.workers.list()).toHaveLength(1))
    expect((await cli(['explain', id, ...at])).out).toContain('is due, but no worker of the register has its job')
    const other = await define(elsewhere, 'unlike-any', () => null).trigger(null)
    expect((await cli(['explain', other.id, ...at])).out).not.toContain('misspelling')
    await durably.stop({ timeout: 0 })
    // The work of the misspelt run is done once, by the other job.
    expect(await paste(cancel)).toMatchObject({ code: 0, out: `${id}  cancelled\n` })
    expect(await paste(trigger)).toMatchObject({ code: 0, err: '' })
    expect((await durably.getRuns({ jobName: 'ship-order' }))[0]).toMatchObject({ payload: input, ...options, status: 'pending' })
  })

  test('an input or labels that are long, or that JSON would change, are left to the reader', async () => {
    const { durably, at } = await world()
    await define(durably, 'ship-order', () => null).trigger(null)
    const misspelt = define(durably, 'ship-orders', () => null)
    const runs = [
      await misspelt.trigger('x'.repeat(300), { labels: { a: 'y'.repeat(250) } }),
      await misspelt.trigger({ at: new Date(0) }, { labels: { a: 'y'.repeat(250) } }),
    ]
    for (const { id } of runs) {
      const trigger = commandsIn((await cli(['explain', id, ...at])).out)[2] ?? ''
      expect(trigger).toContain(`durably trigger ship-order --input '<input as JSON>' --label '<name=value>' --db `)
      expect(await paste(trigger)).toMatchObject({ code: 2, err: expect.stringContaining('--input is "<input as JSON>"') })
      expect(await paste(trigger.replace('<input as JSON>', '1'))).toMatchObject({ code: 2, err: expect.stringContaining('--label is') })
    }
  })

  test('a child of a misspelt job is not triggered again as a run of its own', async () => {
    const { durably, at } = await world()
    await define(durably, 'ship-order', () => null).trigger(null)
    const elsewhere = await openAt(at[1] ?? '')
    const misspelt = define(elsewhere, 'ship-orders', () => null)
    const parent = await define(durably, 'parent', (ctx) => ctx.invoke(misspelt, null)).trigger(null)
    await durably.processUntilIdle()
    const { out } = await cli(['explain', parent.id, ...at])
    expect(out).toContain(`If so, mend the job of run ${parent.id}, which triggered it.`)
    expect(commandsIn(out).map((command) => command.split(' ')[1])).toEqual(['worker'])
  })

  test('runs that failed and runs that wait are named, with the error and what they wait for', async () => {
    const { db, durably } = await world()
    const down = () => Promise.reject(new Error(`503 from the carrier\n${'more '.repeat(50)}`))
    const fail = define(durably, 'fail', down)
    const review = define(durably, 'review', (ctx) => ctx.waitFor('reviewed'))
    const jobs = [
      define(durably, 'attempt', down),
      define(durably, 'step', (ctx) => ctx.run('call', { retry: retry.fixed({ maxAttempts: 3, delay: '6h' }) }, down)),
      define(durably, 'order', (ctx) => ctx.invoke(review, null)),
      define(durably, 'nap', (ctx) => ctx.sleep('nap', '1h')),
      define(durably, 'limited', (ctx) => ctx.waitFor('answer', { timeout: '2h' })),
    ]
    const again = durably.defineJob({ name: 'again', input: anything, retry: retry.fixed({ maxAttempts: 3, delay: '6h' }) }, down)
    await fail.trigger(null)
    for (const job of jobs) await job.trigger(null)
    const { id: retried } = await again.trigger(null)
    await fail.trigger(null, { delay: '1h' })
    await durably.processUntilIdle()
    const { id: waits } = (await durably.getRuns({ jobName: 'review' }))[0] ?? { id: '' }
    await durably.db
      .updateTable('runs')
      .set({ updated_at: new Date(Date.now() - 180 * MINUTE).toISOString() })
      .where('id', '=', waits)
      .execute()
    // The oldest, but as it should be.
    await durably.db.updateTable('runs').set({ updated_at: '2020-01-01T00:00:00.000Z' }).where('job_name', '=', 'nap').execute()
    const found = await findings(db)
    expect(found['failed runs']).toMatchObject({
      state: 'warn',
      what: expect.stringMatching(/^2 runs failed within the last day; the newest, .*: "503 from the carrier"$/),
    })
    expect((await paste(found['failed runs']?.remedy ?? '')).out).toContain('has failed: "503 from the carrier')
    expect(found['waiting runs']).toMatchObject({
      state: 'ok',
      what: expect.stringMatching(new RegExp(`^7 runs wait: .*; the longest, ${waits} of review, for 3h: waits for signal reviewed$`)),
      remedy: `durably explain ${waits} --db ${db}`,
    })
    expect(found['waiting runs']?.what).toContain('2 for a signal')
    expect(found['waiting runs']?.what).toContain('1 for a run that they invoked')
    await durably.db.updateTable('runs').set({ updated_at: '2021-01-01T00:00:00.000Z' }).where('id', '=', retried).execute()
    expect((await findings(db))['waiting runs']?.what).toMatch(
      new RegExp(`the longest, ${retried} of again, .* next attempt in .*, after "503 from the carrier"$`),
    )
    // Each kind is what the library says of the run.
    const place = { ...parsePlace(db), schema: undefined, tablePrefix: undefined, options: '', now: Date.now }
    const waiting = await new PendingRuns({ durably, place }, Date.now()).waiting()
    const said = new Map((await durably.getRuns({ status: 'pending' })).map(({ id, waitingFor }) => [id, waitingFor?.kind]))
    expect(new Map(waiting.map(({ id, kinds }) => [id, kinds[0]]))).toEqual(said)
    expect(said.size).toBe(7)
  })

  test('a step or a job that is tried again: the error, how many attempts there were, and where to see them', async () => {
    const { durably, at } = await world()
    const policy = retry.fixed({ maxAttempts: 3, delay: '6h' })
    const down = () => Promise.reject(new Error('503 from the carrier\nmore of it'))
    const step = define(durably, 'step', (ctx) => ctx.run('call carrier', { retry: policy }, down))
    const again = durably.defineJob({ name: 'again', input: anything, retry: policy }, down)
    for (const { id } of [await step.trigger(null), await again.trigger(null)]) {
      await durably.processUntilIdle()
      const { out } = await cli(['explain', id, ...at])
      expect(out).toMatch(/ at .*Z, after an attempt that failed with "503 from the carrier", since /)
      expect(out).toMatch(/It is tried again at .*Z; nobody has to act unless the error stays\. .*This shows its attempts:/)
      expect(out).not.toContain('goes on')
      expect((await paste(commandsIn(out).at(-1))).out).toMatch(new RegExp(`run +${id}`))
    }
    expect((await cli(['runs', '--job', 'again', ...at])).out).toMatch(/next attempt in 6h, after "503 from the carrier"\n/)
  })

  test('what goes on by itself takes a worker, and that none is in the register is said', async () => {
    const { durably, at } = await world()
    const nap = define(durably, 'nap', (ctx) => ctx.sleep('nap', '1h'))
    const wait = define(durably, 'wait', (ctx) => ctx.waitFor('go'))
    const holder = await nap.trigger(null, { concurrencyKey: 'k', holdKey: true })
    const waits = await wait.trigger(null)
    await durably.processUntilIdle()
    const blocked = await nap.trigger(null, { concurrencyKey: 'k' })
    const said = async ({ id }: { id: string }) => (await cli(['explain', id, ...at])).out.includes('none is in the register')
    expect([await said(holder), await said(blocked), await said(waits)]).toEqual([true, true, false])
    expect((await cli(['doctor', ...at])).out).toMatch(/✓ workers +none is in the register, .*; others execute runs as well\n/)
    cluster(durably)
    durably.start()
    await vi.waitFor(async () => expect(await durably.workers.list()).toHaveLength(1))
    expect([await said(holder), await said(blocked)]).toEqual([false, false])
    const { out } = await cli(['doctor', ...at])
    expect(out).toMatch(/✓ workers +1 worker in the register starts runs\n/)
    expect(out).toMatch(
      /\ndurably runs --label name=value finds the run of a customer, and durably explain <id> says why it does not go on\.\n$/,
    )
    await durably.stop({ timeout: 0 })
  })

  test('a run that is retried is due since then, however old it is', async () => {
    const { db, durably, at } = await world()
    const fail = define(durably, 'fail', () => Promise.reject(new Error('no')))
    const { id } = await fail.trigger(null)
    await durably.db
      .updateTable('runs')
      .set({ run_at: Date.now() - 100 * MINUTE })
      .where('id', '=', id)
      .execute()
    await durably.processUntilIdle()
    await cli(['retry', id, ...at])
    expect((await findings(db))['due runs']?.state).toBe('ok')
    await durably.db
      .updateTable('runs')
      .set({ updated_at: new Date(Date.now() - 2 * MINUTE).toISOString() })
      .where('id', '=', id)
      .execute()
    expect((await findings(db))['due runs']?.what).toContain('1 of fail for up to 2m')
  })

  test('an effect in doubt is decided with a pasted command, and the page of the run shows it', async () => {
    const { db, durably, at } = await world()
    const step = "charge Ada's card $(id)"
    const pay = define(durably, 'pay', (ctx) => ctx.run(step, { effect: 'once' }, () => 'ran'))
    const { id } = await pay.trigger(null)
    // As a worker that was lost in the middle of the effect leaves it.
    await durably.db
      .updateTable('runs')
      .set({ effects: JSON.stringify([{ name: step, generation: 0 }]) })
      .where('id', '=', id)
      .execute()
    await durably.processUntilIdle()
    const { out } = await cli(['explain', id, ...at])
    const { decisions } = await findings(db)
    expect(decisions?.what).toMatch(/^1 run waits until somebody says what became of an effect/)
    for (const text of [out, decisions?.remedy ?? '']) {
      expect(text).not.toMatch(/ \| |durably\.decide/)
      expect(text).toMatch(
        /it took place: +durably decide .* --done .*\n.*it failed: +durably decide .* --failed .*\n.*it did not take place: +durably decide .* --run-again/,
      )
      expect(commandsIn(text)).toHaveLength(3)
    }
    const [, failed = ''] = commandsIn(out)
    expect(await paste(failed)).toMatchObject({ code: 2, err: expect.stringContaining('--failed is "<message>"') })
    expect(await paste(failed.replace('<message>', 'no money'))).toMatchObject({ code: 0, err: '' })
    await durably.processUntilIdle()
    expect(await durably.getRun(id)).toMatchObject({ status: 'failed', error: 'no money' })
    const page = (await cli(['run', id, ...at])).out
    expect(page).toMatch(/▶.*\n.*■ waits\n.*somebody decided about step "charge Ada's card \$\(id\)": it failed: no money\n.*▶/)
  })
})

describe('a command that is printed', () => {
  const [{ create } = { create: async () => '' }] = PLACES

  test('quotes names that a shell would take apart, and those that look like an option', async () => {
    const db = await create()
    const durably = await openAt(db)
    for (const name of ["Ada's ok; ls", '--force', 'two\nlines']) {
      const { id } = await define(durably, `wait for ${name}`, (ctx) => ctx.waitFor(name)).trigger(null)
      await durably.processUntilIdle()
      const [command = ''] = commandsIn((await cli(['explain', id, '--db', db])).out)
      expect(await paste(command.replace('<value as JSON>', '1'))).toMatchObject({ code: 0, err: '' })
      await durably.processUntilIdle()
      expect(await durably.getRun(id)).toMatchObject({ status: 'completed', output: 1 })
    }
  })

  test('a placeholder that was left in is refused, whatever the command', async () => {
    const db = await create()
    await openAt(db)
    const left = [
      ['decide', 'id', 'step', '--failed', '<message>'],
      ['decide', 'id', 'step', '--done', '<result as JSON>'],
      ['signal', 'id', 'go', '<value as JSON>'],
      ['worker', '<file that defines a, b>'],
    ]
    for (const words of left) {
      const { code, err } = await cli([...words, '--db', db])
      expect(code).toBe(2)
      expect(err).toContain(`is ${JSON.stringify(words.at(-1))}, which stands for a value of yours; put that in its place`)
    }
  })

  test('repeats the options that were given, but not what the environment says', async () => {
    const db = await create()
    const durably = await openAt(db)
    const { id } = await define(durably, 'wait', (ctx) => ctx.waitFor('go')).trigger(null)
    await durably.processUntilIdle()
    const printed = async (words: readonly string[], env = {}) => commandsIn((await cli(['explain', id, ...words], { env })).out)[0]
    expect(await printed(['--db', db])).toBe(`durably signal ${id} go '<value as JSON>' --db ${db}`)
    expect(await printed([], { DURABLY_DB: db })).toBe(`durably signal ${id} go '<value as JSON>'`)
  })

  test('says the schema and the prefix, and no password', async () => {
    const url = await (PLACES[1]?.create ?? create)()
    const secret = new URL(url)
    secret.password = 'secret'
    await cli(['migrate', '--db', url, '--schema', 'jobs', '--table-prefix', 'my_'])
    const remedy = async (db: string, schema: string) => {
      const { out } = await cli(['doctor', '--json', '--db', db, '--schema', schema, '--table-prefix', 'my_'])
      expect(out).not.toContain('secret')
      return (JSON.parse(out) as Finding[])[0]
    }
    expect(await remedy(url, 'jobs')).toMatchObject({ check: 'schema', state: 'ok' })
    expect((await remedy(secret.href, 'elsewhere'))?.remedy).toBe(
      'durably migrate --db "$DATABASE_URL" --schema elsewhere --table-prefix my_',
    )
  })

  test('a label in place of an id leads to the runs that have it', async () => {
    const db = await create()
    const durably = await openAt(db)
    const { id } = await define(durably, 'ship-order', () => null).trigger(null, { labels: { order: '4711' } })
    for (const command of ['explain', 'run']) {
      const { code, err } = await cli([command, 'order=4711', '--db', db])
      expect(code).toBe(1)
      expect((await paste(commandsIn(err)[0])).out).toContain(id)
    }
    expect((await cli(['--help'])).out).toContain('durably runs --label order=4711 finds a run by a label')
  })

  test('a run that has not ended is not retried, and nobody is told to trigger another one beside it', async () => {
    const db = await create()
    const durably = await openAt(db)
    const { id } = await define(durably, 'wait', (ctx) => ctx.waitFor('go')).trigger(null)
    await durably.processUntilIdle()
    const { code, err } = await cli(['retry', id, '--db', db])
    expect({ code, err }).toEqual({
      code: 1,
      err: `durably retry: run ${id} has not ended (waiting, waits for signal go), so it still does its work, and there is nothing to retry; this says more:\n  durably explain ${id} --db ${db}\n`,
    })
    await cli(['cancel', id, '--db', db])
    expect((await cli(['retry', id, '--db', db])).err).toBe(
      `durably retry: run ${id} cannot be retried: it is cancelled, and only a failed run can be retried; trigger a new one instead\n`,
    )
  })

  test('a failed run is told the shell command only', async () => {
    const db = await create()
    const durably = await openAt(db)
    const { id } = await define(durably, 'fail', () => Promise.reject(new Error('no'))).trigger(null)
    await durably.processUntilIdle()
    const { out } = await cli(['explain', id, '--db', db])
    expect(out).not.toContain('durably.retry(')
    expect(out).toMatch(new RegExp(`When its reason is gone, retry it:\n\n {2}durably retry ${id} --db ${db}\n$`))
  })
})
