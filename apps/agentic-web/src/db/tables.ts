// The app's own tables, as Kysely sees them. Runs, steps and events are the engine's.
//   T1. Every table has `user_id`, and every query names it.
import type { Durably } from '@coji/durably'
import type { Kysely, Transaction } from 'kysely'

export interface AppTables {
  agent_sessions: SessionsTable
  agent_turns: TurnsTable
  agent_messages: MessagesTable
  agent_settings: SettingsTable
  agent_files: FilesTable
  agent_artifacts: ArtifactsTable
  agent_users: UsersTable
  agent_identities: IdentitiesTable
  agent_web_sessions: WebSessionsTable
  agent_invites: InvitesTable
  agent_counters: CountersTable
  agent_secrets: SecretsTable
  auth: AuthTable
  oauth_state: OauthStateTable
  agent_streams: { stream_id: string; user_id: string; expires_at: number }
  agent_migrations: { version: number; applied_at: string }
}

interface SessionsTable {
  session_id: string
  user_id: string
  title: string | null
  /** The beginning of the last message of the user. */
  preview: string
  /** The number of the last message that was accepted. Accepting one locks the row, so turns have the order of acceptance. */
  last_turn: number
  created_at: string
  updated_at: string
  /** A deleted session is kept until its runs have ended and were removed. */
  deleted_at: string | null
}

/** One row per run. */
interface TurnsTable {
  run_id: string
  session_id: string
  user_id: string
  turn: number
  input_text: string
  /** RunModel as JSON; null until the run has begun. */
  model: string | null
  input_tokens: number
  output_tokens: number
  created_at: string
}

interface MessagesTable {
  session_id: string
  user_id: string
  run_id: string
  turn: number
  /** 0 is the user's message; answers and results of tools count on. */
  position: number
  role: 'user' | 'assistant' | 'tool'
  /** MessagePart[] as JSON. */
  parts: string
  /** 1 if the answer was cut off. */
  interrupted: number
  created_at: string
}

interface SettingsTable {
  user_id: string
  /** JSON, without keys. */
  value: string
  version: number
  updated_at: string
}

interface FilesTable {
  session_id: string
  user_id: string
  path: string
  content: Uint8Array
  bytes: number
  updated_at: string
}

interface ArtifactsTable {
  artifact_id: string
  session_id: string
  user_id: string
  run_id: string
  content: Uint8Array
  created_at: string
}

interface UsersTable {
  user_id: string
  /** In lower case. Null of the local user alone. */
  email: string | null
  /** Null until the user has chosen a password, or if another service signs users in. */
  password_hash: string | null
  created_at: string
  disabled_at: string | null
}

/** Who a user is at the service that signs users in. */
interface IdentitiesTable {
  issuer: string
  subject: string
  user_id: string
  created_at: string
}

/** A browser in which a user has signed in. */
interface WebSessionsTable {
  id_hash: string
  user_id: string
  created_at: string
  last_seen_at: string
  expires_at: string
}

/** A link with which a user chooses a password, once. */
interface InvitesTable {
  token_hash: string
  user_id: string
  expires_at: string
  used_at: string | null
}

/** How often something happened within a window of time; `window_start` in milliseconds. */
interface CountersTable {
  subject: string
  window_start: number
  n: number
}

/** A key of a model provider. */
interface SecretsTable {
  user_id: string
  name: string
  /** See secrets/key-ring.ts. */
  sealed: string
  last4: string
  version: number
  updated_at: string
}

/** The tokens that another service gave for a user. Times are in milliseconds. */
interface AuthTable {
  user_id: string
  provider: string
  /** Who the user is there, for people. */
  account: string | null
  /** StoredTokens as JSON, sealed. */
  sealed: string
  version: number
  /** `reconnect`: the tokens are dead, and the user has to connect again. */
  status: 'connected' | 'reconnect'
  /** Of the access token; null if the service did not say. */
  expires_at: number | null
  /** Who asks for new tokens right now, and until when nobody else does. */
  refresh_lease: string | null
  refresh_lease_until: number | null
  updated_at: string
}

/** A user who is on the way to another service and back. */
interface OauthStateTable {
  state_hash: string
  provider: string
  purpose: 'login' | 'connect'
  user_id: string | null
  /** Of the cookie of the browser that started. */
  bind_hash: string
  /** The PKCE verifier and the nonce, sealed. */
  sealed: string
  redirect_uri: string
  return_to: string
  expires_at: number
  consumed_at: number | null
}

type EngineTables = Durably['db'] extends Kysely<infer Tables> ? Tables : never

/** The engine's rows are read together with the app's, and never written here. */
type ReadTables = Pick<EngineTables, 'runs' | 'steps'>

export type AppDatabase = Kysely<AppTables & ReadTables>
export type AppTransaction = Transaction<AppTables & ReadTables>

declare module '@coji/durably' {
  interface Register {
    tables: AppTables & ReadTables
  }
}

/** The app's tables are in the engine's database, so a message and the run that answers it are one commit. */
export function appDatabase(durably: Durably): AppDatabase {
  return durably.db as unknown as AppDatabase
}
