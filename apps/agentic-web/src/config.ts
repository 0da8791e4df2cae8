// What the environment says. Every value has a default that works for one person on one machine.
import { type OauthProviders, readProviders } from './oauth/providers.ts'
import { positive } from './positive.ts'
import { unsafeSettings } from './profile.ts'
import { readToolConfig, type ToolConfig } from './tools/tool-config.ts'
import type { AuthMode } from './wire/account.ts'

export interface Config {
  /** `postgres://…`, or `file:…` for SQLite, which takes one process only. */
  databaseUrl: string
  /** The server of the scripted model. */
  demoModelUrl: string
  /** They seal what is secret in the database; see secrets/key-ring.ts. */
  keys: string
  /** The name of this process; null for one that the engine makes up. */
  workerId: string | null
  /** How many runs one worker executes at once. */
  concurrency: number
  leaseMs: number
  pollMs: number
  auth: AuthConfig
  oauth: OauthConfig
  /** Where this process learns of changes, if not by `databaseUrl`. */
  listenUrl: string | undefined
  limits: Limits
  tools: ToolConfig
  /** Test commands of the scripted model that kill the worker are obeyed. Never in production. */
  allowCrash: boolean
}

export interface AuthConfig {
  mode: AuthMode
  /** Where browsers reach the app, such as `https://chat.example.com`. Null: wherever they say that they reach it, on this machine. */
  publicUrl: string | null
  /** Browsers reach the app over https. */
  isSecure: boolean
  /** A proxy in front says where requests come from (`X-Forwarded-For`). */
  trustProxy: boolean
  /** Whoever the service that signs users in vouches for becomes a user. Otherwise only those who were invited. */
  isOpenToAll: boolean
}

export interface OauthConfig {
  providers: OauthProviders
  /** Where services send users back to: `/api/oauth/:provider/callback`, or `/auth/callback` on one's own machine. */
  callback: 'public' | 'loopback'
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
  /** Of all servers and workers together. Infinite with AUTH_MODE=dev, unless they are set. */
  perUser: UserLimits
  /** Files of a session that nobody has used for so long are removed. */
  workspaceTtlMs: number
}

export interface UserLimits {
  requestsPerMinute: number
  /** Messages that wait for an answer, or are being answered. */
  runs: number
  /** Event streams that are open. */
  streams: number
  /** Of files and long outputs of tools, in all sessions. */
  bytes: number
}

const DAY_MS = 86_400_000

type Env = Readonly<Record<string, string | undefined>>

export function readConfig(env: Env): Config {
  const isProd = readProfile(env) === 'prod'
  const unsafe = isProd ? unsafeSettings(env) : []
  if (unsafe.length > 0) throw new Error(['PROFILE=prod does not start with these settings:', ...unsafe].join('\n  '))
  return {
    databaseUrl: required(env, 'DATABASE_URL'),
    demoModelUrl: required(env, 'DEMO_MODEL_URL'),
    keys: required(env, 'APP_KEYS'),
    workerId: env.WORKER_ID ?? null,
    concurrency: positive(env, 'WORKER_CONCURRENCY', 4),
    leaseMs: positive(env, 'LEASE_MS', 15_000),
    pollMs: positive(env, 'POLL_MS', 1000),
    auth: readAuth(env),
    oauth: { providers: readProviders(env), callback: isProd || env.OAUTH_CALLBACK === 'public' ? 'public' : 'loopback' },
    listenUrl: env.LISTEN_URL || undefined,
    tools: readToolConfig(env, isProd),
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
      perUser: readUserLimits(env),
      workspaceTtlMs: positive(env, 'WORKSPACE_TTL_MS', 30 * DAY_MS),
    },
    allowCrash: env.ALLOW_CRASH === '1',
  }
}

function readProfile(env: Env): 'dev-local' | 'prod' {
  const profile = env.PROFILE || 'dev-local'
  if (profile !== 'dev-local' && profile !== 'prod') throw new Error(`PROFILE must be dev-local or prod, got ${JSON.stringify(profile)}`)
  return profile
}

function readAuth(env: Env): AuthConfig {
  const mode = env.AUTH_MODE || 'dev'
  const publicUrl = env.PUBLIC_URL || null
  if (mode !== 'dev' && mode !== 'password' && mode !== 'oidc')
    throw new Error(`AUTH_MODE must be dev, password or oidc, got ${JSON.stringify(mode)}`)
  if (publicUrl !== null && (!URL.canParse(publicUrl) || `${new URL(publicUrl).origin}/` !== new URL(publicUrl).href))
    throw new Error(`PUBLIC_URL must be an address without a path, such as https://chat.example.com, got ${JSON.stringify(publicUrl)}`)
  if (mode === 'oidc' && (publicUrl === null || !env.OAUTH_OIDC_CLIENT_ID))
    throw new Error('AUTH_MODE=oidc needs PUBLIC_URL, OAUTH_OIDC_ISSUER and OAUTH_OIDC_CLIENT_ID')
  return {
    mode,
    publicUrl,
    isSecure: publicUrl?.startsWith('https:') ?? false,
    trustProxy: env.TRUST_PROXY === '1',
    isOpenToAll: env.OIDC_SIGN_UP === 'everyone',
  }
}

function readUserLimits(env: Env): UserLimits {
  const limit = (name: string, fallback: number) =>
    positive(env, name, (env.AUTH_MODE || 'dev') === 'dev' ? Number.POSITIVE_INFINITY : fallback)
  return {
    requestsPerMinute: limit('REQUESTS_PER_MINUTE', 600),
    runs: limit('RUNS_PER_USER', 30),
    streams: limit('STREAMS_PER_USER', 20),
    bytes: limit('BYTES_PER_USER', 256 * 1024 * 1024),
  }
}

function required(env: Env, name: string): string {
  const value = env[name]
  if (!value) throw new Error(`${name} is not set; see docs/guides/deploy-agentic-web.md`)
  return value
}
