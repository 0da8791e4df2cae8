// Which tools there are, and with which settings a worker does not start.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { newKey } from '../dist/secrets/key-ring.js'
import { readToolConfig } from '../dist/tools/tool-config.js'

const MAIN = fileURLToPath(new URL('../dist/roles/main.js', import.meta.url))
const read = (env: Record<string, string>) => readToolConfig(env, env.PROFILE === 'prod')
const FILES = ['read', 'write', 'edit', 'glob_search', 'grep', 'sql', 'calculator']

test('a real shell is there only if somebody wanted it', () => {
  expect(read({}).offered).toEqual(['bash', ...FILES])
  expect(read({ PROFILE: 'prod' })).toMatchObject({ sandbox: 'bubblewrap', offered: FILES })
  expect(read({ PROFILE: 'prod', ALLOW_BASH: '1' }).offered).toEqual(['bash', ...FILES])
  expect(read({ PROFILE: 'prod', SANDBOX: 'none', ALLOW_BASH: '1' }).offered).toEqual(['calculator'])
  expect(read({ NOTIFY_URL: 'http://localhost:1' }).offered).toEqual(['bash', ...FILES, 'notify'])
})

test('a real shell and what acts on the world need approval, unless somebody says otherwise', () => {
  const need = (env: Record<string, string>) => read({ NOTIFY_URL: 'http://localhost:1', ...env }).needApproval
  expect(need({})).toEqual(['notify'])
  expect(need({ PROFILE: 'prod', ALLOW_BASH: '1' })).toEqual(['bash', 'notify'])
  expect(need({ APPROVE_TOOLS: '' })).toEqual([])
  expect(need({ APPROVE_TOOLS: 'sql, write' })).toEqual(['sql', 'write'])
})

test.each([
  [{ PROFILE: 'prod', SANDBOX: 'virtual' }, 'SANDBOX=virtual does not isolate tools'],
  [{ SANDBOX: 'logical' }, 'SANDBOX must be virtual, bubblewrap, none, got "logical"'],
  [{ TOOL_MEMORY_MB: '0' }, 'TOOL_MEMORY_MB must be a whole number of at least 1, got "0"'],
  [{ SANDBOX_UID: '0' }, 'SANDBOX_UID must be a whole number of at least 1, got "0"'],
  [{ APPROVE_TOOLS: 'bash,rm' }, 'APPROVE_TOOLS: there is no tool "rm"; there are bash, read'],
  [{ NOTIFY_URL: 'nowhere' }, 'NOTIFY_URL is no URL'],
])('%j is refused', (env: Record<string, string>, words) => {
  expect(() => read(env)).toThrow(words)
})

test('a worker whose tools cannot be isolated does not start, and says why in one line', ({ skip }) => {
  if (process.geteuid?.() !== 0) skip('not run: these tests do not run as root')
  const env = {
    ...process.env,
    PROFILE: 'prod',
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    DEMO_MODEL_URL: 'http://127.0.0.1:1',
    APP_KEYS: newKey(),
    AUTH_MODE: 'password',
    PUBLIC_URL: 'https://chat.example.com',
  }
  const { status, stderr } = spawnSync(process.execPath, ['--no-warnings', MAIN, 'worker'], { env, encoding: 'utf8' })
  expect(stderr).toMatch(/^agentic-web: the worker runs as root, and a tool must not; set SANDBOX_UID .*\n$/)
  expect(status).toBe(1)
})
