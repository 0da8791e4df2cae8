// The short form of the escapes (accept/sandbox.ts has each of them by itself), and what the boundary promises.
import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BubblewrapSandbox } from '../dist/tools/bubblewrap/bubblewrap-sandbox.js'
import { readAnswer } from '../dist/tools/bubblewrap/untrusted-answer.js'
import { CALLS, LIMITS, NAMES, NETWORK, READS, WRITES } from './rig/escape-attempts.ts'
import { processesOf } from './rig/processes.ts'
import { BACKENDS, openBackend, runCommand, SANDBOX_UID, Surroundings, whyNotRun } from './rig/sandboxes.ts'
import { until } from './rig/until.ts'

const around = new Surroundings()
const notRun: Record<string, string | undefined> = {}
beforeAll(async () => {
  await around.open()
  for (const backend of BACKENDS) notRun[backend] = await whyNotRun(backend)
}, 40_000)
afterAll(() => around.close())

const QUICK = [
  'a fork bomb',
  'more processes than it may have',
  '2 GB of memory',
  'a file of 10 GB',
  'a loop that ignores signals',
  'a path of a thousand levels',
]

describe.each(BACKENDS)('%s', (backend) => {
  const sandbox = openBackend(backend)

  test('nothing of the machine is read, written or reached', async ({ skip }) => {
    if (notRun[backend]) skip(notRun[backend])
    const all = [...READS, ...WRITES, ...NETWORK].map(({ command }) => `( ${around.fill(command)} ) 2>&1`).join('\n')
    const { content, changes } = await runCommand(sandbox, `${all}\ncat a.txt`, 15_000)
    expect(content).not.toContain(around.canary)
    expect(content).not.toMatch(/root:x:|DATABASE_URL|durably-workspace/)
    expect(content).toMatch(/mine\n$/)
    expect(changes.filter(({ content }) => content !== null && Buffer.from(content, 'base64').includes(around.canary))).toEqual([])
    expect(around.connections).toBe(0)
    expect(readdirSync(around.folder)).toEqual(['secret.txt'])
    for (const path of ['/usr/bin/agentic-escape', '/agentic-escape', '/tmp/agentic-slip']) expect(existsSync(path)).toBe(false)
  })

  test.for(LIMITS.filter(({ name }) => QUICK.includes(name)))('$name is stopped, and says so', async (attempt, { skip }) => {
    if (notRun[backend]) skip(notRun[backend])
    const { command, timeoutMs = 10_000, violation } = attempt
    const answer = await runCommand(sandbox, around.fill(command), timeoutMs)
    if (violation?.[backend]) expect(violation[backend]).toContain(answer.violation?.kind)
    expect(answer.isError).toBe(true)
    expect(JSON.stringify(answer.changes).length).toBeLessThan(6 * 1024 * 1024)
  })

  test('file names may have newlines and anything that a shell would read', async ({ skip }) => {
    if (notRun[backend]) skip(notRun[backend])
    const [attempt] = NAMES
    const { content, changes } = await runCommand(sandbox, attempt?.command ?? '', 10_000)
    expect(content.trim()).toMatch(/^\d+$/)
    expect(changes.map(({ path }) => path).sort()).toEqual(['$(touch pwned)', 'new\nline'])
  })
})

describe('bubblewrap', () => {
  const sandbox = openBackend('bubblewrap')

  test('a process that asks for what no tool needs ends, and the answer warns', async ({ skip }) => {
    if (notRun.bubblewrap) skip(notRun.bubblewrap)
    const commands = CALLS.filter(({ violation }) => violation).map(({ command }) => `${command}; echo " $?"`)
    const { content, violation } = await runCommand(sandbox, commands.join('\n'), 15_000)
    expect(violation).toMatchObject({ kind: 'system_call' })
    expect(content).not.toMatch(/^alive/m)
    expect(content.match(/ 159$/gm)).toHaveLength(commands.length)
  })

  test('every namespace is its own, and no right is left', async ({ skip }) => {
    if (notRun.bubblewrap) skip(notRun.bubblewrap)
    const names = ['net', 'pid', 'user', 'mnt', 'ipc', 'uts', 'cgroup']
    const { content } = await runCommand(
      sandbox,
      `cd /proc/self/ns; readlink ${names.join(' ')}; grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/self/status`,
      10_000,
    )
    for (const name of names) {
      expect(content).toContain(`${name}:[`)
      expect(content).not.toContain(readlinkSync(`/proc/self/ns/${name}`))
    }
    expect(content.match(/^Cap\w+:\s+0{16}$/gm)).toHaveLength(5)
    expect(content).toMatch(/NoNewPrivs:\s+1\nSeccomp:\s+2/)
  })

  test('two small folders in memory can be written, and nothing else', async ({ skip }) => {
    if (notRun.bubblewrap) skip(notRun.bubblewrap)
    const folders =
      '/ /usr /usr/bin /app /app/tools /app/node_modules /bin /dev /dev/shm /dev/pts /etc /proc /proc/sys /sys /var /home /root /run /workspace /tmp'
    const { content } = await runCommand(
      sandbox,
      `for d in ${folders}; do (: > $d/.w) 2>/dev/null && df -k --output=target,size $d; done`,
      10_000,
    )
    expect(content.replaceAll(/^Mounted.*\n/gm, '').replaceAll(/ +/g, ' ')).toBe('/workspace 32768\n/tmp 32768\n')
  })

  test('a command that the operating system ends for its processor time is a warning, too', async ({ skip }) => {
    if (notRun.bubblewrap) skip(notRun.bubblewrap)
    const { violation } = await runCommand(sandbox, 'ulimit -t 1; while :; do :; done', 15_000)
    expect(violation).toEqual({ kind: 'time', message: 'The command used more processor time than it may have.' })
  })

  test('nothing is left of a tool that has answered, was stopped, or is not wanted any more', async ({ skip }) => {
    if (notRun.bubblewrap) skip(notRun.bubblewrap)
    const daemons = 'setsid sleep 300 & (trap "" TERM HUP; sleep 300 &) & disown -a;'
    const gone = () => until(async () => processesOf(SANDBOX_UID).length === 0)
    expect(await runCommand(sandbox, `${daemons} echo answered`, 10_000)).toMatchObject({ content: 'answered\n', isError: false })
    await gone()
    expect(await runCommand(sandbox, `${daemons} sleep 300`, 500)).toMatchObject({ violation: { kind: 'time' } })
    await gone()
    const stop = new AbortController()
    const running = runCommand(sandbox, `${daemons} sleep 300`, 60_000, stop.signal)
    await until(async () => processesOf(SANDBOX_UID).filter((line) => line.startsWith('sleep 300')).length >= 2)
    stop.abort(new Error('not wanted'))
    await expect(running).rejects.toThrow('not wanted')
    await gone()
  })

  test('files go in and come out; links, pipes and folders do not', async ({ skip }) => {
    if (notRun.bubblewrap) skip(notRun.bubblewrap)
    const { content, changes } = await runCommand(
      sandbox,
      'cat a.txt; mkdir -p d/e empty; echo new > d/e/f; ln -s /usr/bin/env l; mkfifo p; rm a.txt',
      10_000,
    )
    expect(content).toBe('mine\n')
    expect(changes).toEqual([
      { path: 'a.txt', content: null },
      { path: 'd/e/f', content: Buffer.from('new\n').toString('base64') },
    ])
  })

  test('it never runs as root', async ({ skip }) => {
    if (process.geteuid?.() !== 0) skip('not run: these tests do not run as root')
    const asRoot = new BubblewrapSandbox({ uid: undefined, memoryMb: 64, processes: 8, hasRealShell: false, report: () => {} })
    await expect(asRoot.check()).rejects.toThrow(/runs as root, and a tool must not; set SANDBOX_UID/)
  })
})

describe('an answer that a tool has written itself', () => {
  const files = new Map([['a.txt', Buffer.from('mine')]])
  const answer = (changes: unknown, more: object = {}) =>
    readAnswer(JSON.stringify({ content: '', isError: false, changes, ...more }), files)
  const base64 = (bytes: number) => Buffer.alloc(bytes).toString('base64')

  test.each(['../a', '/etc/passwd', 'a/../../b', 'a//b', '.', '', 'a\0b', 'x'.repeat(513), '\ud800'])('cannot name the path %j', (path) => {
    expect(answer([{ path, content: '' }])).toMatchObject({ isError: true, changes: [], violation: { kind: 'workspace' } })
  })

  test('cannot leave more than a session may keep', () => {
    expect(answer([{ path: 'b', content: base64(4 * 1024 * 1024 + 1) }])).toMatchObject({ changes: [], violation: { kind: 'workspace' } })
    const many = Array.from({ length: 500 }, (_, i) => ({ path: `f${i}`, content: '' }))
    expect(answer(many)).toMatchObject({ changes: [], violation: { kind: 'workspace' } })
    expect(answer(many.slice(1))).toMatchObject({ changes: many.slice(1), isError: false })
  })

  test('is none if it has another form', () => {
    for (const text of ['', '{}', 'null', '{"content":"","isError":false,"changes":[{"path":"a"}]}'])
      expect(readAnswer(text, files)).toBeUndefined()
    expect(answer([], { more: 1 })).toBeUndefined()
    expect(answer([{ path: 'a', content: 'not base64!' }])).toBeUndefined()
    expect(answer([], { violation: { kind: 'other', message: '' } })).toBeUndefined()
  })
})
