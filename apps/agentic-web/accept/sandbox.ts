// H. The sandbox: each attempt to get out is tried by itself, on each backend that this machine has. Where one cannot run, the report says so.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ATTEMPTS, type Attempt } from '../tests/rig/escape-attempts.ts'
import { processesOf } from '../tests/rig/processes.ts'
import { BACKENDS, type Backend, openBackend, runCommand, SANDBOX_UID, Surroundings, whyNotRun } from '../tests/rig/sandboxes.ts'
import { until } from '../tests/rig/until.ts'
import { bound } from './any-instance.ts'
import type { Stage } from './stage.ts'

const around = new Surroundings()
const notRun: Partial<Record<Backend, string>> = {}

export function sandbox(stage: () => Stage): void {
  beforeAll(async () => {
    await around.open()
    for (const backend of BACKENDS) {
      const why = await whyNotRun(backend)
      if (why) notRun[backend] = why
    }
  }, 60_000)
  afterAll(() => around.close())

  describe.each(BACKENDS)('H49 %s', (backend) => {
    test.for(ATTEMPTS)('$name', async (attempt, { skip }) => {
      stage().escaped(attempt.name, backend, notRun[backend] ?? 'failed')
      if (notRun[backend]) skip(notRun[backend])
      await tryToEscape(backend, attempt)
      stage().escaped(attempt.name, backend, 'held')
    })

    test('H50 what a call costs', async ({ skip }) => {
      if (notRun[backend]) skip(notRun[backend])
      const times: number[] = []
      const sandbox = openBackend(backend)
      for (let i = 0; i < 20; i++) {
        const began = performance.now()
        await runCommand(sandbox, 'echo hi', 10_000)
        times.push(performance.now() - began)
      }
      const sorted = times.toSorted((x, y) => x - y)
      stage().counted(`H50 a call of the ${backend} sandbox, p50 in ms`, Math.round(sorted[10] ?? 0))
      stage().counted(`H50 a call of the ${backend} sandbox, p95 in ms`, Math.round(sorted[18] ?? 0))
    })
  })

  test('H49 a worker that is killed takes its tools along', async ({ skip }) => {
    if (notRun.bubblewrap) skip(notRun.bubblewrap)
    const worker = spawn(process.execPath, ['--input-type=module', '-e', WORKER], { stdio: 'ignore' })
    await until(async () => processesOf(SANDBOX_UID).some((line) => line.startsWith('sleep 301')))
    worker.kill('SIGKILL')
    const began = performance.now()
    await until(async () => processesOf(SANDBOX_UID).length === 0)
    stage().timed('H49 tools of a killed worker are gone after', performance.now() - began, 1000)
  })

  test('H50 a worker that is no root isolates its tools as itself', async ({ skip }) => {
    if (notRun.bubblewrap) skip(notRun.bubblewrap)
    if (process.geteuid?.() !== 0) skip('not run: only root can become another user')
    const worker = spawn(process.execPath, ['--input-type=module', '-e', ORDINARY], {
      uid: SANDBOX_UID,
      gid: SANDBOX_UID,
      env: {},
      cwd: '/',
    })
    let said = ''
    for (const stream of [worker.stdout, worker.stderr]) stream.on('data', (part) => (said += part))
    await new Promise((resolve) => worker.once('close', resolve))
    expect(said).toBe('uid 1000\n')
  })

  test('H51 a file that one worker wrote is there for the next one', async () => {
    const { client, fleet } = stage()
    const session = await client.newSession()
    const written = await client.send(session, 'write h51.txt: the same bytes')
    await client.follow(written)
    await stage().replaceWorker((await client.run(written)).worker_id ?? '', 'SIGKILL')
    const { results } = await client.follow(await client.send(session, 'run: cat h51.txt'))
    expect([...results.values()]).toEqual(['the same bytes\n'])
    expect(await (await fetch(`${fleet.apiUrls[1]}/api/sessions/${session}/files/h51.txt`)).text()).toBe('the same bytes\n')
  })
}

/** Isolated tools in the whole app, as in production. */
export function isolatedTools(stage: () => Stage): void {
  test('H44 the model’s shell finds neither environment nor database, and the page warns when it goes too far', async () => {
    const { client, fleet } = bound(stage())
    const session = await client.newSession()
    const tried = await client.follow(await client.send(session, 'run: env; cat /proc/*/environ /proc/*/cmdline; ls /; id -u'))
    const [said = ''] = tried.results.values()
    expect(tried.done).toBe('completed')
    expect(said).toContain('HOME=/workspace')
    expect(said).not.toMatch(/DATABASE_URL|AGENTIC|postgres|WORKER_ID/)
    expect(said).not.toContain(fleet.postgres.url)

    const run = await client.send(session, 'run: unshare -U id')
    await client.follow(run)
    const page = await stage().openSession(session)
    await page.getByText('sandbox warning').first().waitFor()
    await page.close()
    const [line] = await fleet.query<{ level: string; data: string }>(
      "SELECT level, data FROM logs WHERE run_id = $1 AND message = 'sandbox_violation'",
      [run],
    )
    expect(line).toMatchObject({ level: 'warn', data: expect.stringContaining('"kind":"system_call"') })
  })

  test('H28 a run that is stopped while its tool sleeps: the whole tree is gone', async () => {
    const { client, timed } = bound(stage())
    const run = await client.send(await client.newSession(), 'run: setsid sleep 302 & sleep 302')
    await until(async () => processesOf(SANDBOX_UID).filter((line) => line.startsWith('sleep 302')).length === 2)
    const began = performance.now()
    await client.request('POST', `/runs/${run}/cancel`)
    await until(async () => processesOf(SANDBOX_UID).length === 0)
    timed('H28 the tree is gone after', performance.now() - began, 2000)
    expect((await client.follow(run)).done).toBe('cancelled')
  })

  test('H49 a fork bomb costs the worker no lease, and others are answered', async () => {
    const { client, counted } = bound(stage())
    const others = async () => {
      const began = performance.now()
      const runs = await Promise.all(Array.from({ length: 10 }, async () => client.send(await client.newSession(), 'what is 6 * 7')))
      for (const run of runs) expect(await client.follow(run)).toMatchObject({ done: 'completed', restarts: [] })
      return Math.round(performance.now() - began)
    }
    counted('H49 ten answers, in ms', await others())
    const bomb = await client.send(await client.newSession(), 'run: :(){ :|:& };: ; sleep 300')
    await until(async () => processesOf(SANDBOX_UID).length > 50)
    counted('H49 ten answers beside a fork bomb, in ms', await others())
    await client.request('POST', `/runs/${bomb}/cancel`)
    expect(await client.follow(bomb)).toMatchObject({ done: 'cancelled', restarts: [] })
    await until(async () => processesOf(SANDBOX_UID).length === 0)
  })

  test('H51 files go from worker to worker through isolated tools', async () => {
    const { client } = stage()
    const session = await client.newSession()
    const written = await client.send(session, 'run: seq 3 > h51.txt')
    await client.follow(written)
    await stage().replaceWorker((await client.run(written)).worker_id ?? '', 'SIGKILL')
    const { results } = await client.follow(await client.send(session, 'find 2'))
    expect([...results.values()]).toEqual(['h51.txt:2:2\n'])
  })
}

const WORKER = script('sleep 301 & sleep 301', SANDBOX_UID)
const ORDINARY = script('echo uid $(id -u)', undefined)

/** A program that gives a command to a sandbox, and says what came back. */
function script(command: string, uid: number | undefined): string {
  const module = fileURLToPath(new URL('../dist/tools/bubblewrap/bubblewrap-sandbox.js', import.meta.url))
  const request = `{ files: new Map(), task: { tool: 'bash', args: { command: ${JSON.stringify(command)} } }, timeoutMs: 60000 }`
  return `import { BubblewrapSandbox } from ${JSON.stringify(module)}
    const sandbox = new BubblewrapSandbox({ uid: ${uid}, memoryMb: 512, processes: 96, hasRealShell: true, report: console.error })
    process.stdout.write((await sandbox.run(${request}, new AbortController().signal)).content)`
}

async function tryToEscape(backend: Backend, { command, timeoutMs = 10_000, violation, says }: Attempt): Promise<void> {
  const answer = await runCommand(openBackend(backend), around.fill(command), timeoutMs)
  const all = `${answer.content}${answer.changes.map(({ content }) => Buffer.from(content ?? '', 'base64').toString()).join('')}`
  expect(all).not.toContain(around.canary)
  expect(all).not.toMatch(/root:x:|DATABASE_URL|durably-workspace|^alive/m)
  if (violation?.[backend]) expect(violation[backend]).toContain(answer.violation?.kind)
  if (says?.[backend]) expect(answer.content).toMatch(says[backend])
  expect(around.connections).toBe(0)
  expect(readdirSync(around.folder)).toEqual(['secret.txt'])
  for (const path of ['/usr/bin/agentic-escape', '/agentic-escape', '/tmp/agentic-slip', '/dev/shm/big'])
    expect(existsSync(path)).toBe(false)
  if (backend === 'bubblewrap') await until(async () => processesOf(SANDBOX_UID).length === 0)
}
