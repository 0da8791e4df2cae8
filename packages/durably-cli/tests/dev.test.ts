// `durably dev` as a process, driven over HTTP as its page does it.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { httpClient } from '@coji/durably/client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { DevState } from '../src/dev/session.ts'
import { json, openAt, temporaryFolder } from './cli.ts'
import { type Program, start } from './program.ts'

async function startDev(cwd: string, ...args: string[]) {
  const program = start(['dev', '--port', '0', ...args], { cwd })
  const [, url = ''] = await program.says(/(http:\/\/localhost:\d+)/)
  const state = async () => (await (await fetch(`${url}/dev/state`)).json()) as DevState
  const control = async (name: string, body?: object) => {
    const response = await fetch(`${url}/dev/${name}`, { method: 'POST', ...(body && { body: JSON.stringify(body) }) })
    return { status: response.status, answer: (await response.json()) as DevState & { error?: string } }
  }
  return { program, url, state, control, client: httpClient({ url: `${url}/api` }) }
}

type Dev = Awaited<ReturnType<typeof startDev>>

async function eventTypes(client: Dev['client'], runId: string): Promise<string[]> {
  const types: string[] = []
  for await (const { type } of client.subscribe(runId)) types.push(type)
  return types
}

async function afterStep(client: Dev['client'], runId: string): Promise<void> {
  for await (const { type } of client.subscribe(runId)) if (type === 'step:complete') return
}

const PATIENCE_MS = 30_000
const LOOK_MS = 100

/** Until the state is so. Each look is a request; without a pause they would take the processor from the worker that they wait for. */
async function until({ program, state }: Pick<Dev, 'program' | 'state'>, look: () => Promise<boolean>): Promise<void> {
  const patience = AbortSignal.timeout(PATIENCE_MS)
  while (!(await look())) {
    await pause(LOOK_MS)
    if (patience.aborted) throw new Error(`it never came so far:\n${program.out()}${program.err()}${JSON.stringify(await state())}`)
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function endsWithItsWorker(program: Program, state: DevState): Promise<void> {
  program.child.kill('SIGTERM')
  expect((await program.ended).code).toBe(0)
  expect(isAlive(state.pid ?? 0)).toBe(false)
}

describe('in a folder without job files', () => {
  test('plays the demo of a killed worker without a terminal, and keeps serving', { timeout: 60_000 }, async () => {
    const folder = temporaryFolder()
    const { program, url, state, client } = await startDev(folder)
    await program.says(/completed {2}\{"month":"2026-10","total":15500\}\n\nhttp:\/\/localhost:\d+ goes on until it is interrupted/)
    const out = program.out()
    const [, killed] = /worker (\d+) killed with SIGKILL/.exec(out) ?? []
    expect(out).toMatch(/sample jobs: there are no job files here/)
    const [, takenOver] = /^worker (\d+) {2}takes over after step 5$/m.exec(out) ?? []
    expect(takenOver).toBeDefined()
    expect(takenOver).not.toBe(killed)
    expect(out.match(/^ {2}[█░]+ +\d+\/12/gm)).toHaveLength(12)
    expect(out).not.toContain('\u001b')
    const [run] = await client.getRuns({ jobName: 'monthly-report' })
    expect(await eventTypes(client, run?.id ?? '')).toContain('run:reclaim')
    const page = await fetch(url)
    expect(page.headers.get('Content-Security-Policy')).toContain("default-src 'self'")
    const [, script = ''] = /src="([^"]*controls[^"]*)"/.exec(await page.text()) ?? []
    expect((await fetch(url + script)).headers.get('Content-Type')).toContain('text/javascript')
    expect(existsSync(join(folder, '.durably/dev.db'))).toBe(true)
    expect(readFileSync(join(folder, '.durably/.gitignore'), 'utf8')).toBe('*\n')
    await endsWithItsWorker(program, await state())
  })

  test('with a database of its own it brings no sample jobs, and leaves runs of the same names alone', { timeout: 60_000 }, async () => {
    const folder = temporaryFolder()
    const db = join(folder, 'app.db')
    const durably = await openAt(db)
    const job = durably.defineJob({ name: 'monthly-report', input: z.unknown() }, () => 'ours')
    const { id } = await job.trigger({ month: '2026-10', stepMs: 1 })
    const late = Date.now() - 600_000
    await durably.schedule('nightly', { job, every: '1h', payload: null })
    await durably.db.updateTable('schedules').set({ next_at: late }).execute()
    const dev = await startDev(folder, '--db', db)
    await dev.program.says(/worker \d+: no jobs, so it executes nothing \(name the files that define them\)/)
    expect((await dev.state()).jobs).toEqual([])
    expect((await fetch(dev.url)).status).toBe(200)
    for (const on of [true, false]) await dev.control('pause', { on })
    // A worker that was started fires a schedule within a third of a second; nothing tells that one does not.
    await pause(1500)
    expect(await dev.client.getRun(id)).toMatchObject({ status: 'pending', startedAt: null })
    expect(await durably.schedules.list()).toMatchObject([{ id: 'nightly', nextAt: new Date(late).toISOString() }])
    expect(dev.program.out()).not.toContain('sample jobs')
    await endsWithItsWorker(dev.program, await dev.state())
  })

  test('the controls: kill, pause, a slow database, and an hour that passes at once', { timeout: 60_000 }, async () => {
    const folder = temporaryFolder()
    const { program, state, control, client } = await startDev(folder, '--no-demo')
    await until({ program, state }, async () => (await state()).jobs.length === 5)

    await expect(client.trigger('reminder', { minutes: 'soon' })).rejects.toMatchObject({ code: 'invalid_input' })
    const reminder = await client.trigger('reminder', {})
    const report = await client.trigger('monthly-report', { stepMs: 150 })
    await afterStep(client, report.id)
    const { answer } = await control('advance')
    expect(answer.offsetMs).toBe(3_600_000)
    expect(await eventTypes(client, reminder.id)).toContain('run:complete')
    expect((await eventTypes(client, report.id)).filter((type) => type.startsWith('run:') && type !== 'run:progress')).toEqual([
      'run:trigger',
      'run:start',
      'run:complete',
    ])
    await until({ program, state }, async () => (await client.getRuns({ jobName: 'clean-up' })).length > 0)
    // Another process on the same file has the same time.
    const db = join(folder, '.durably/dev.db')
    const soon = await json<{ createdAt: string }>(['trigger', 'approval', '--db', db])
    expect(Date.parse(soon.createdAt) - Date.now()).toBeGreaterThan(3_500_000)

    expect((await control('pause', { on: true })).answer.isPaused).toBe(true)
    const { pid: first } = await state()
    expect((await control('kill')).status).toBe(200)
    await until({ program, state }, async () => ![null, first].includes((await state()).pid))
    const held = await client.trigger('monthly-report', { stepMs: 10 })
    expect(await client.getRun(held.id)).toMatchObject({ status: 'pending' })
    await control('slow', { on: true })
    await control('pause', { on: false })
    await afterStep(client, held.id)
    await control('slow', { on: false })
    expect(await eventTypes(client, held.id)).toContain('run:complete')

    expect(await control('advance', { ms: -1 })).toMatchObject({
      status: 400,
      answer: { error: expect.stringContaining('ms must be a whole number') },
    })
    expect(await control('pause', { on: 'yes' })).toMatchObject({ status: 400 })
    await endsWithItsWorker(program, await state())
  })

  test('pages of others reach nothing', { timeout: 40_000 }, async () => {
    const { url } = await startDev(temporaryFolder(), '--no-demo')
    const foreign = { method: 'POST', headers: { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' } }
    expect((await fetch(`${url}/dev/kill`, foreign)).status).toBe(403)
    expect((await fetch(`${url}/dev/kill`, { method: 'DELETE' })).status).toBe(405)
    const { port } = new URL(url)
    const status = await new Promise((resolve) =>
      get({ port, path: '/api/runs', headers: { Host: 'evil.example' } }, ({ statusCode }) => resolve(statusCode)),
    )
    expect(status).toBe(403)
  })
})

describe('with job files', () => {
  const job = (name: string, result: string) =>
    `import type { Durably } from '@coji/durably'
     const anything = { '~standard': { version: 1 as const, vendor: 'test', validate: (value: unknown) => ({ value }) } }
     export default (durably: Durably) => { durably.defineJob({ name: '${name}', input: anything }, async () => '${result}') }`

  test('they are found and reloaded, and one that throws is shown while the rest works', { timeout: 60_000 }, async () => {
    const folder = temporaryFolder()
    const file = (name: string) => join(folder, 'jobs', name)
    mkdirSync(join(folder, 'jobs'))
    writeFileSync(file('one.ts'), job('one', 'first'))
    writeFileSync(file('beside.ts'), 'export const nothing = 1')
    writeFileSync(file('broken.ts'), 'throw new Error("this file is broken")')
    const { program, state, client } = await startDev(folder)
    await until({ program, state }, async () => (await state()).failures.length === 1)
    expect(await state()).toMatchObject({
      jobs: [{ name: 'one' }],
      failures: [{ message: expect.stringContaining('this file is broken') }],
    })
    await program.says(/broken\.ts: .*this file is broken/)
    // Of the stack only what is in the file.
    expect((await state()).failures[0]?.message).not.toMatch(/node:internal|tsx|job-file/)
    const outputOf = async (name: string) => {
      const { id } = await client.trigger(name, {})
      for await (const event of client.subscribe(id)) if (event.type === 'run:complete') return event.output
      return undefined
    }
    expect(await outputOf('one')).toBe('first')

    const { pid } = await state()
    writeFileSync(file('one.ts'), job('one', 'second'))
    writeFileSync(file('two.ts'), job('two', 'new'))
    rmSync(file('broken.ts'))
    await until({ program, state }, async () => (await state()).jobs.length === 2 && (await state()).pid !== pid)
    expect((await state()).failures).toEqual([])
    expect(await outputOf('two')).toBe('new')
    expect(await outputOf('one')).toBe('second')
  })

  test('a port that is taken is not an error, a database of a newer version is', { timeout: 40_000 }, async () => {
    const folder = temporaryFolder()
    const taken = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void taken.close())
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as { port: number }
    const program = start(['dev', '--port', String(port), '--no-demo'], { cwd: folder })
    const [, next] = await program.says(/http:\/\/localhost:(\d+)/)
    expect(Number(next)).toBeGreaterThan(port)
    await program.says(new RegExp(`port ${port} is taken, so it is ${next}`))
    program.child.kill('SIGTERM')
    await program.ended

    const newer = await openAt(join(folder, '.durably/dev.db'))
    await newer.db.insertInto('schema_versions').values({ version: 99, applied_at: 'later', oldest_code: 99 }).execute()
    expect(await start(['dev', '--port', '0'], { cwd: folder }).ended).toMatchObject({
      code: 3,
      err: expect.stringContaining('npm install @coji/durably@latest @coji/durably-cli@latest'),
    })
  })
})
