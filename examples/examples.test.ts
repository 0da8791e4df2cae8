// Every example runs as a real process and prints what it says. `npm test` compiles them first.
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** What each example prints, line by line. */
const PRINTS: Record<string, string[]> = {
  'in-memory': ['cat.png.7px.webp', 'bird.png.8px.webp', 'horse.png.9px.webp'],
  'log-persistence': [
    'event info  -      run:trigger',
    'event info  -      run:start',
    'line  info  -      import starts { lines: 2 }',
    'event info  check  step:start',
    "line  warn  check  no comma { line: 'b 2' }",
    'event info  check  step:complete',
    'event info  store  step:start',
    'line  info  store  stored',
    'event info  index  step:start',
    'line  info  index  indexed',
    'event info  store  step:complete',
    'event info  index  step:complete',
    'event info  -      run:complete',
  ],
  'concurrency-key': ['6 runs completed', 'overlaps of one key: 0', 'keys side by side: yes'],
  'retry-failed': [
    'rendering invoice 1',
    'rendering invoice 2',
    'send-invoice failed: mail server is down',
    'send-invoice failed: mail server is down',
    'sending invoice-1.pdf',
    'sending invoice-2.pdf',
    '2 runs completed',
    '  render: completed',
    '  send: failed',
    '  send: completed',
  ],
  'human-approval': ['may we pay back 1200 cents?', 'the run is waiting', 'grace says yes'],
  'retry-policy': [
    'rendering for a.example',
    'attempt 1 failed: 503 Service Unavailable',
    'attempt 2 failed: 503 Service Unavailable',
    '{} delivered to a.example at attempt 3',
    'rendering for gone.example',
    'run the run of job "deliver" failed: 410 Gone',
  ],
  schedule: ['tick', 'by hand'],
  sleeping: ['welcome ada', 'sleeping; this process may end now', 'tips for ada', 'completed'],
  'two-workers': ['40 runs, 40 executions, 40 different pages', '2 workers took part'],
  basic: ["info: starting sync { orgId: 'org_123' }", 'info: fetched users { count: 2 }', 'synced 2 users'],
  batches: [
    'no network at item 350',
    'recorded: batch-0 completed, batch-100 completed, batch-200 completed, batch-300 failed',
    '1000 items processed, twice only 300 to 349',
  ],
  cancel: [
    'pending run: cancelled',
    'running run: requested',
    'triggerAndWait rejected: run_cancelled',
    'steps kept: list-pages',
    'ended run: refused',
  ],
  events: [
    'a listener of run:trigger threw: a bug in a listener',
    'convert started',
    '  read returned 9',
    '  parse returned [ 1, 2, 3 ]',
    'convert completed [ 1, 2, 3 ]',
    'convert started',
    '  read returned 5',
    expect.stringMatching(/^ {2}parse failed: Unexpected token/) as unknown as string,
    expect.stringMatching(/^convert failed in parse: Unexpected token/) as unknown as string,
  ],
  idempotency: ['10 deliveries, 1 run', 'order 7 booked, 1 charge', 'a new run, since the old one was deleted'],
  progress: [
    '#####............... a.png',
    '##########.......... b.png',
    '###############..... c.png',
    '#################### d.png',
    'completed, 4 of 4',
  ],
  resuming: [
    'first worker',
    '  fetch-users runs',
    '  users: ada, grace',
    '  process-users runs',
    'first worker died of SIGKILL',
    'second worker',
    '  users: ada, grace',
    '  process-users runs',
    '  notify runs',
    '  completed',
  ],
  serverless: ['executed 3, left 2', 'executed 2, left 0', 'executed 0, left 0'],
  sqlite: ['Hello, Ada!'],
  streaming: [
    'a worker starts',
    'it is lost at: The fox runs. The dog',
    'a worker starts',
    'taken back to: The fox runs.',
    'completed:     The fox runs. The dog sleeps. The end.',
  ],
  'task-queue': [
    'cat.png is 64 px wide now',
    '1 attempt failed',
    'send_email is dead after 3 attempts: mail server is down',
    '1 task redriven',
    'mail to ada',
    '2 succeeded, 1 queued',
  ],
}

/** What durably itself says on stderr when something goes wrong. */
const LOGS: Record<string, RegExp> = {
  'retry-failed': /^(durably: run \w+ of job "send-invoice" failed in step "send": Error: mail server is down\n){2}$/,
  'retry-policy': /^durably: run \w+ of job "deliver" failed: NonRetryableError: 410 Gone\n$/,
  batches: /^durably: run \w+ of job "process-items" failed in step "batch-300": Error: no network at item 350\n$/,
  events: /^durably: run \w+ of job "convert" failed in step "parse": SyntaxError: Unexpected token .*\n$/,
  resuming: /^durably: run \w+ of job "notify-users" lost its worker and is taken over; .*\n$/,
  streaming: /^durably: run \w+ of job "tell" lost its worker and is taken over; .*\n$/,
}

function run(name: string, temp: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { ...process.env, TMPDIR: temp, TEMP: temp, NO_COLOR: '1' }
  return new Promise((resolve) =>
    execFile(process.execPath, ['--no-warnings', here(`dist/${name}.js`)], { env, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? -1) : 0, stdout, stderr }),
    ),
  )
}

describe('examples', () => {
  test.concurrent.each(Object.keys(PRINTS))('%s prints what it says and leaves nothing behind', { timeout: 90_000 }, async (name) => {
    const temp = mkdtempSync(join(tmpdir(), 'durably-example-'))
    try {
      const { code, stdout, stderr } = await run(name, temp)
      const lines = stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.trimEnd())
      expect({ lines, code }).toStrictEqual({ lines: PRINTS[name], code: 0 })
      expect(stderr).toMatch(LOGS[name] ?? /^$/)
      expect(readdirSync(temp)).toStrictEqual([])
    } finally {
      rmSync(temp, { recursive: true, force: true })
    }
  })

  test('each example is tested here and has its line in the README', () => {
    const names = readdirSync(here('.')).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    const readme = readFileSync(here('README.md'), 'utf8')
    expect(names.map((file) => file.slice(0, -3)).sort()).toStrictEqual(Object.keys(PRINTS).sort())
    expect(names.filter((file) => !readme.includes(`(${file})`))).toStrictEqual([])
  })
})
