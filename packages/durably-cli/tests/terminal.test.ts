// The program in a real terminal: keys, colours, a table that fits the window. Needs tmux.
import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { openAt, temporaryFolder } from './cli.ts'

const BIN = fileURLToPath(new URL('../dist/bin.js', import.meta.url))
const hasTmux = spawnSync('tmux', ['-V']).status === 0
const COLUMNS = 90
const PATIENCE_MS = 30_000

/** A terminal of its own, on a server of its own. */
function terminal(cwd: string, ...args: string[]) {
  const socket = join(temporaryFolder(), 'tmux')
  const tmux = (...words: string[]) => execFileSync('tmux', ['-S', socket, ...words], { encoding: 'utf8' })
  const command = [process.execPath, '--no-warnings', BIN, ...args].map((word) => `'${word}'`).join(' ')
  tmux('-f', '/dev/null', 'new-session', '-d', '-x', String(COLUMNS), '-y', '30', '-c', cwd, `${command}; echo "ended with $?"; cat`)
  onTestFinished(() => void spawnSync('tmux', ['-S', socket, 'kill-server']))
  const screen = (...words: string[]) => tmux('capture-pane', '-p', '-S', '-200', ...words)
  const shows = (pattern: RegExp): RegExpExecArray => {
    const end = performance.now() + PATIENCE_MS
    for (;;) {
      const found = pattern.exec(screen())
      if (found) return found
      if (performance.now() > end) throw new Error(`the terminal does not show ${pattern}:\n${screen()}`)
    }
  }
  return { screen, shows, press: (...keys: string[]) => void tmux('send-keys', ...keys) }
}

test.skipIf(!hasTmux)('durably dev obeys its keys, and gives the terminal back', { timeout: 90_000 }, () => {
  const { shows, press } = terminal(temporaryFolder(), 'dev', '--port', '0')
  shows(/k kill the worker · p pause · h \+1 hour · s slow database · q quit/)
  const [, first] = shows(/worker (\d+): monthly-report/)
  press('k')
  shows(new RegExp(`worker ${first} killed with SIGKILL`))
  shows(new RegExp(`worker (?!${first})\\d+: monthly-report`))
  press('h')
  shows(/the clock shows 20/)
  press('p')
  shows(/paused: runs are given back/)
  press('s')
  shows(/the database is slow now/)
  press('q')
  shows(/ended with 0/)
})

test.skipIf(!hasTmux)('a list fits the window, has colours, and follows changes until Ctrl-C', { timeout: 60_000 }, async () => {
  const db = join(temporaryFolder(), 'test.db')
  const durably = await openAt(db)
  const job = durably.defineJob({ name: 'a-job-with-a-name-that-is-rather-long', input: z.object({}) }, async () => {
    throw new Error('something went wrong, and the message about it is much longer than a window is wide')
  })
  const { id } = await job.trigger({})
  await durably.processUntilIdle()
  const { screen, shows, press } = terminal(temporaryFolder(), 'runs', '--db', db, '--watch')
  shows(new RegExp(`${id} .*failed.*…`))
  expect(screen('-e')).toContain('\u001b[31mfailed')
  const next = await job.trigger({})
  shows(new RegExp(`${next.id} .*pending`))
  for (const line of screen().split('\n')) expect(line.length).toBeLessThanOrEqual(COLUMNS)
  press('C-c')
  shows(/ended with 0/)
})
