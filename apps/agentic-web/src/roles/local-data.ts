// The folder of `npm run agentic` on one's own machine. While it runs, a file there says which database it uses, so that commands beside it find it.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { localKeys } from './local-keys.ts'

export const DATA = process.env.AGENTIC_DATA ?? fileURLToPath(new URL('../../.data', import.meta.url))
const RUNNING = join(DATA, 'running.json')

interface Running {
  DATABASE_URL: string
}

/** Until the returned function is called. */
export function keepRunning(running: Running): () => Promise<void> {
  writeFileSync(RUNNING, JSON.stringify(running), { mode: 0o600 })
  return async () => rmSync(RUNNING, { force: true })
}

/** The environment for a command: what is set, and what `npm run agentic` uses here. */
export function commandEnv(): Record<string, string | undefined> {
  // No command asks the model.
  const env = {
    DEMO_MODEL_URL: 'http://127.0.0.1:4110/v1',
    APP_KEYS: process.env.APP_KEYS ?? localKeys(DATA),
    ...process.env,
  }
  return process.env.DATABASE_URL ? env : { ...env, ...whatRuns() }
}

function whatRuns(): Running {
  try {
    return JSON.parse(readFileSync(RUNNING, 'utf8')) as Running
  } catch {
    throw new Error('set DATABASE_URL, or run `npm run agentic` meanwhile in another terminal')
  }
}
