// What the environment says. Every value has a default that works for one person on one machine.
import { readToolConfig, type ToolConfig } from './tools/tool-config.ts'

export interface Config {
  /** `postgres://…`, or `file:…` for SQLite, which takes one process only. */
  databaseUrl: string
  /** The server of the scripted model. */
  demoModelUrl: string
  /** Encrypts the keys of model providers. */
  secret: string
  /** The name of this process; null for one that the engine makes up. */
  workerId: string | null
  /** How many runs one worker executes at once. */
  concurrency: number
  leaseMs: number
  pollMs: number
  /** Where this process learns of changes, if not by `databaseUrl`. */
  listenUrl: string | undefined
  limits: Limits
  tools: ToolConfig
  /** Test commands of the scripted model that kill the worker are obeyed. Never in production. */
  allowCrash: boolean
}

export interface Limits {
  /** How long one worker may take for a run. */
  runMs: number
  /** How long the model's server may send nothing. */
  modelIdleMs: number
  modelAttempts: number
  /** The longest pause that a model's server may ask for. */
  retryAfterMaxMs: number
  toolMs: number
  /** Calls of the model in one run. */
  steps: number
  /** What a tool returns to the model and to the page. */
  toolOutputBytes: number
  answerBytes: number
  /** Messages of one session that wait at the same time. */
  queuedRuns: number
  /** Files of a session that nobody has used for so long are removed. */
  workspaceTtlMs: number
}

const DAY_MS = 86_400_000

type Env = Readonly<Record<string, string | undefined>>

export function readConfig(env: Env): Config {
  return {
    databaseUrl: required(env, 'DATABASE_URL'),
    demoModelUrl: required(env, 'DEMO_MODEL_URL'),
    secret: required(env, 'AGENTIC_SECRET'),
    workerId: env.WORKER_ID ?? null,
    concurrency: positive(env, 'WORKER_CONCURRENCY', 4),
    leaseMs: positive(env, 'LEASE_MS', 15_000),
    pollMs: positive(env, 'POLL_MS', 1000),
    listenUrl: env.LISTEN_URL || undefined,
    tools: readToolConfig(env),
    limits: {
      runMs: positive(env, 'RUN_TIMEOUT_MS', 15 * 60_000),
      modelIdleMs: positive(env, 'MODEL_IDLE_MS', 90_000),
      modelAttempts: positive(env, 'MODEL_ATTEMPTS', 3),
      retryAfterMaxMs: positive(env, 'RETRY_AFTER_MAX_MS', 60_000),
      toolMs: positive(env, 'TOOL_TIMEOUT_MS', 60_000),
      steps: positive(env, 'MAX_STEPS', 24),
      toolOutputBytes: 48 * 1024,
      answerBytes: 1024 * 1024,
      queuedRuns: 20,
      workspaceTtlMs: positive(env, 'WORKSPACE_TTL_MS', 30 * DAY_MS),
    },
    allowCrash: env.ALLOW_CRASH === '1',
  }
}

function required(env: Env, name: string): string {
  const value = env[name]
  if (!value) throw new Error(`${name} is not set; see docs/guides/deploy-agentic-web.md`)
  return value
}

function positive(env: Env, name: string, fallback: number): number {
  const text = env[name]
  if (text === undefined || text === '') return fallback
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1)
    throw new Error(`${name} must be a whole number of at least 1, got ${JSON.stringify(text)}`)
  return value
}
