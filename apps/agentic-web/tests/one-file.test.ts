// SQLite: the whole app in one process, which is killed in the middle of an answer and started again.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sqlite } from '@coji/durably/sqlite'
import { Kysely } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { Client } from './rig/client.ts'
import { textOf } from './rig/transcript.ts'

const MAIN = fileURLToPath(new URL('../dist/roles/main.js', import.meta.url))

test('a process that is killed mid-answer: the next one completes it, and its files are there', { timeout: 40_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agentic-file-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const first = await start(folder)
  const session = await first.client.newSession()
  await first.client.follow(await first.client.send(session, 'write kept.txt: as it was'))
  const run = await first.client.send(session, '!slow 12 killed')
  let next: ReturnType<typeof start> | undefined
  // The page goes on by itself: the next process has the same address.
  const transcript = await first.client.follow(run, {
    onEvent(event) {
      if (event.type === 'text' && event.content.includes('word-3 ')) next ??= first.kill().then(() => start(folder, first.port))
    },
  })
  const second = await next
  if (!second) throw new Error('the run ended before its process was killed')
  expect(transcript).toMatchObject({ done: 'completed', restarts: ['worker_lost'] })
  expect(textOf(transcript)).toBe(Array.from({ length: 12 }, (_, i) => `word-${i + 1} `).join(''))
  expect((await second.client.session(session)).messages).toHaveLength(6)
  const read = await second.client.follow(await second.client.send(session, 'read kept.txt'))
  expect([...read.results.values()]).toEqual(['as it was\n'])
  expect(await second.end()).toBe(0)

  const db = new Kysely<{ agent_runs: { status: string; owner_id: string }; agent_run_events: { event_type: string; payload: string } }>({
    dialect: sqlite(join(folder, 'app.db')),
  })
  onTestFinished(() => db.destroy())
  expect((await db.selectFrom('agent_runs').selectAll().execute()).map(({ status }) => status)).toEqual([
    'completed',
    'completed',
    'completed',
  ])
  const events = await db.selectFrom('agent_run_events').selectAll().where('event_type', '=', 'run:complete').execute()
  expect(events.map(({ payload }) => JSON.parse(payload).output.text)).toContain(textOf(transcript))
})

async function start(folder: string, port = 0) {
  const env = { ...process.env, DATABASE_URL: `file:${join(folder, 'app.db')}`, AGENTIC_DATA: folder, PORT: String(port), LEASE_MS: '2000' }
  const child = fork(MAIN, ['start'], { execArgv: ['--no-warnings'], env, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said = await new Promise<string>((resolve) => {
    let text = ''
    child.stdout?.on('data', (part) => {
      text += part
      if (text.includes('Ctrl-C')) resolve(text)
    })
  })
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
    return child.exitCode
  }
  const url = /http:\S+/.exec(said)?.[0] ?? ''
  return {
    port: Number(new URL(url).port),
    client: new Client(url),
    kill: () => end('SIGKILL'),
    end: () => end('SIGTERM'),
  }
}
