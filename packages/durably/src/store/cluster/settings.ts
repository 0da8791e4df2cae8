// Settings that all processes share.

/** The settings that hold until somebody sets others. */
export const DEFAULT_SETTINGS: SettingsValue = {
  // Longer than webhooks are repeated.
  dedupeForMs: 7 * 24 * 60 * 60 * 1000,
}

/** The settings of all processes. */
export interface SettingsStore {
  /** The settings as they were last written; null if they never were. */
  readSettings(): Promise<SettingsRow | null>
  /** Writes the settings. */
  writeSettings(settings: NewSettings): Promise<SettingsOutcome>
}

/** What can be set. */
export interface SettingsValue {
  /** For how long a dedupe key is kept after its event was delivered, in milliseconds. */
  dedupeForMs: number
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
