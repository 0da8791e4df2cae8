import { fork } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { bundleChild } from '../sql/processes.ts'

let keeper = ''
beforeAll(async () => {
  keeper = await bundleChild('postgres-keeper', fileURLToPath(new URL('./fixtures/keeper.ts', import.meta.url)))
})

const isRoot = process.getuid?.() === 0
const NOBODY = 65534

test.each([
  { who: 'whoever runs the tests', options: {} },
  ...(isRoot && isOpenToAll() ? [{ who: 'nobody, without root', options: { uid: NOBODY, gid: NOBODY } }] : []),
])('as $who: a server from the npm package, and it stops when its parent is killed', { timeout: 60_000 }, async ({ options }) => {
  const parent = fork(keeper, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], ...options })
  onTestFinished(() => void parent.kill('SIGKILL'))
  const [answer] = await once(parent, 'message')
  expect(answer).toEqual({ url: expect.stringContaining('postgres://') })
  expect(await version(answer.url)).toContain('PostgreSQL 18')
  parent.kill('SIGKILL')
  for (let tries = 0; (await version(answer.url)) !== null; tries++) {
    expect(tries, 'the server lives on').toBeLessThan(200)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
})

async function version(url: string): Promise<string | null> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query('SELECT version()')).rows[0].version
  } catch {
    return null
  } finally {
    await client.end().catch(() => {})
  }
}

/** A repository below a directory that only its owner may enter is out of reach for others. */
function isOpenToAll(): boolean {
  let directory = fileURLToPath(new URL('.', import.meta.url))
  for (;;) {
    if ((statSync(directory).mode & 0o001) === 0) return false
    if (dirname(directory) === directory) return true
    directory = dirname(directory)
  }
}
