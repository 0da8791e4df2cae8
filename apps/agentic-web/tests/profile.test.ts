// The profile prod starts with nothing that is unsafe, and says what to change.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../dist/config.js'
import { testKey } from './rig/keys.ts'

const SAFE = {
  PROFILE: 'prod',
  DATABASE_URL: 'postgres://db.example.com/app',
  DEMO_MODEL_URL: 'http://demo-model:4110/v1',
  APP_KEYS: testKey('k1', 1),
  PUBLIC_URL: 'https://chat.example.com',
  AUTH_MODE: 'password',
}

describe('prod', () => {
  test('starts with safe settings, with the public callback and cookies for https', () => {
    const { auth, oauth } = readConfig(SAFE)
    expect(auth).toMatchObject({ isSecure: true, mode: 'password' })
    expect(oauth.callback).toBe('public')
  })

  test.each([
    [{ PUBLIC_URL: 'http://chat.example.com' }, 'PUBLIC_URL'],
    [{ PUBLIC_URL: undefined }, 'PUBLIC_URL'],
    [{ PUBLIC_URL: 'https://localhost:3000' }, 'PUBLIC_URL'],
    [{ PUBLIC_URL: 'https://127.0.0.1' }, 'PUBLIC_URL'],
    [{ APP_KEYS: undefined }, 'APP_KEYS'],
    [{ AUTH_MODE: 'dev' }, 'AUTH_MODE'],
    [{ AUTH_MODE: undefined }, 'AUTH_MODE'],
    [{ AUTH_MODE: 'oidc' }, 'AUTH_MODE=oidc'],
    [{ OAUTH_OIDC_ISSUER: 'http://id.example.com', OAUTH_OIDC_CLIENT_ID: 'x' }, 'OAUTH_OIDC_ISSUER'],
    [{ OAUTH_CALLBACK: 'loopback' }, 'OAUTH_CALLBACK'],
    [{ DATABASE_URL: 'file:app.db' }, 'DATABASE_URL'],
    [{ ALLOWED_HOSTS: 'a.example.com, *' }, 'ALLOWED_HOSTS'],
    [{ ALLOW_CRASH: '1' }, 'ALLOW_CRASH'],
  ])('not with %j', (change, word) => {
    const refuse = () => readConfig({ ...SAFE, ...change })
    expect(refuse).toThrow(new RegExp(`^PROFILE=prod does not start with these settings:\n  ${word}[^\n]*$`))
  })

  test('a process ends at once, with one line for each reason and no stack', async () => {
    const main = fileURLToPath(new URL('../dist/roles/main.js', import.meta.url))
    const env = { ...process.env, ...SAFE, AUTH_MODE: 'dev', PUBLIC_URL: 'http://chat.example.com' }
    const ended = promisify(execFile)(process.execPath, ['--no-warnings', main, 'api'], { env })
    await expect(ended).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^[^\n]*:\n {2}PUBLIC_URL[^\n]*\n {2}AUTH_MODE[^\n]*\n$/),
    })
  })
})

test.each([
  [{ PROFILE: 'production' }, 'PROFILE'],
  [{ PROFILE: 'dev-local', AUTH_MODE: 'none' }, 'AUTH_MODE'],
  [{ PROFILE: 'dev-local', AUTH_MODE: 'oidc' }, 'OAUTH_OIDC_CLIENT_ID'],
  [{ PROFILE: 'dev-local', OAUTH_OIDC_CLIENT_ID: 'x' }, 'OAUTH_OIDC_ISSUER'],
  [{ PROFILE: 'dev-local', PUBLIC_URL: 'chat.example.com' }, 'PUBLIC_URL'],
  [{ PROFILE: 'dev-local', PUBLIC_URL: 'http://localhost:3000/chat' }, 'PUBLIC_URL'],
])('%j is a mistake in any profile', (change, word) => {
  expect(() => readConfig({ ...SAFE, ...change })).toThrow(word)
})
