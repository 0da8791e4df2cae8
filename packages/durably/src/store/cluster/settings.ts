// Settings that all processes share. Those without a default are left to the options of each process, until somebody sets them.
import type { Audited } from './audit.ts'

/** The settings that hold until somebody sets others. */
export const DEFAULT_SETTINGS = {
  // Longer than webhooks are repeated.
  dedupeForMs: 7 * 24 * 60 * 60 * 1000,
  auditForMs: 366 * 24 * 60 * 60 * 1000,
  leaderLeaseMs: 10_000,
} satisfies Partial<SettingsValue>

/** The settings of all processes. */
export interface SettingsStore {
  /** The settings as they were last written; null if they never were. */
  readSettings(): Promise<SettingsRow | null>
  /** Writes the settings. */
  writeSettings(settings: NewSettings, options?: Audited): Promise<SettingsOutcome>
}

/** What can be set. */
export interface SettingsValue {
  /** For how long a dedupe key is kept after its event was delivered, in milliseconds. */
  dedupeForMs: number
  /** For how long entries of the audit are kept, in milliseconds. */
  auditForMs: number
  /** How long ago a run must have ended before its history is moved to files, in milliseconds. */
  archiveAfterMs: number
  /** After how long a run that was not started gets another worker, in milliseconds. */
  reassignAfterMs: number
  /** How long the lease of the leader is, in milliseconds. */
  leaderLeaseMs: number
}

/** Settings that are to be written. */
export interface NewSettings {
  /** What is set; what is left out has its default. */
  value: Partial<SettingsValue>
  /** The version that they must have; 0 if they must never have been written. */
  version: number
  /** Who writes them; null if that is not known. */
  updatedBy: string | null
}

/** The settings as a store keeps them. */
export interface SettingsRow extends NewSettings {
  /** When they were written, in milliseconds since 1970. */
  updatedAt: number
}

/** What became of `writeSettings`: done, with the settings as they are now, or refused because they have another version. */
export type SettingsOutcome =
  | { outcome: 'done'; settings: SettingsRow }
  | {
      outcome: 'changed'
      /** The version that they have. */
      version: number
    }
