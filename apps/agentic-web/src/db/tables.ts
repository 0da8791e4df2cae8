// The app's own tables, as Kysely sees them. Runs, steps and events are the engine's.
//   T1. Every table has `user_id`, and every query names it. There is one local user until people can sign in.
import type { Durably } from '@coji/durably'
import type { Kysely, Transaction } from 'kysely'

export interface AppTables {
  agent_sessions: SessionsTable
  agent_turns: TurnsTable
  agent_messages: MessagesTable
  agent_settings: SettingsTable
  agent_files: FilesTable
  agent_artifacts: ArtifactsTable
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
  /** JSON; keys in it are encrypted. */
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
