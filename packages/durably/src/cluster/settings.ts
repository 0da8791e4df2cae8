// Settings — what callers do with the settings of all processes.
import { type Duration, durationMs } from '../model/duration.ts'
import { DurablyError } from '../model/errors.ts'
import { checkKeys, type KeysOf } from '../model/known-keys.ts'
import { checkName } from '../model/name.ts'
import { isoOrNull } from '../model/run.ts'
import { versionMismatch } from '../model/version-mismatch.ts'
import { DEFAULT_SETTINGS, type SettingsRow, type SettingsStore } from '../store/cluster/settings.ts'
import type { IfVersion } from '../store/runs.ts'

/** The settings that all processes share, as `durably.settings.get()` returns them. */
export interface ClusterSettings {
  /** For how long a `dedupeKey` is kept after its event was delivered, in milliseconds. Default 7 days. */
  dedupeFor: number
  /** Grows with every change; 0 before the first. Pass it as `ifVersion` to change them only if nobody did since. */
  version: number
  /** When they were last changed, as ISO-8601 text; null if they never were. */
  updatedAt: string | null
  /** Who changed them last: the `actor` of that call; null if it had none. */
  updatedBy: string | null
}

/** What `durably.settings.set()` changes. What is left out stays as it is. */
export interface SettingsChange {
  /** For how long a `dedupeKey` is kept after its event was delivered: from one second to 366 days. */
  dedupeFor?: Duration
}

/** The options of `durably.settings.set()`. */
export interface SetOptions extends IfVersion {
  /** Who changes them, for `updatedBy`: at most 512 bytes. */
  actor?: string
}

const CHANGE: KeysOf<SettingsChange> = { dedupeFor: 1 }
const SET_OPTIONS: KeysOf<SetOptions> = { ifVersion: 1, actor: 1 }
const DEDUPE_MS_MIN = 1000
const DEDUPE_MS_MAX = 366 * 24 * 60 * 60 * 1000
const TRIES_MAX = 20

/** The settings of all processes, as `durably.settings`. */
export class Settings {
  readonly #store: SettingsStore | undefined

  /** Without `cluster`, the store keeps none. */
  constructor({ cluster }: { cluster: SettingsStore | undefined }) {
    this.#store = cluster
  }

  /** Reads the settings. */
  async get(): Promise<ClusterSettings> {
    return toSettings(await this.#cluster.readSettings())
  }

  /** Changes settings for all processes, at once, and returns all of them. If nothing differs, nothing is written. */
  async set(change: SettingsChange, options: SetOptions = {}): Promise<ClusterSettings> {
    checkKeys('settings.set', change, CHANGE)
    checkKeys('settings.set', options, SET_OPTIONS)
    const { ifVersion, actor } = options
    const updatedBy = actor === undefined ? null : checkName('actor', actor)
    const wanted = change.dedupeFor === undefined ? {} : { dedupeForMs: dedupeMs(change.dedupeFor) }
    for (let tries = 1; tries <= TRIES_MAX; tries++) {
      const known = await this.#cluster.readSettings()
      const version = known?.version ?? 0
      if (ifVersion !== undefined && ifVersion !== version) throw versionMismatch('the settings', { expected: ifVersion, actual: version })
      const value = { ...known?.value, ...wanted }
      if (value.dedupeForMs === known?.value.dedupeForMs) return toSettings(known)
      const answer = await this.#cluster.writeSettings({ value, version, updatedBy })
      if (answer.outcome === 'done') return toSettings(answer.settings)
    }
    throw new DurablyError('store_busy', `the settings were changed by others ${TRIES_MAX} times in a row; try again`)
  }

  get #cluster(): SettingsStore {
    if (this.#store) return this.#store
    throw new DurablyError('inbox_unsupported', 'the store of this instance keeps no settings; use memoryStore(), SQLite or Postgres')
  }
}

function dedupeMs(duration: Duration): number {
  const ms = durationMs('dedupeFor', duration)
  if (ms < DEDUPE_MS_MIN || ms > DEDUPE_MS_MAX)
    throw new DurablyError('invalid_argument', `dedupeFor must be from one second to 366 days, got ${ms} ms`)
  return ms
}

function toSettings(row: SettingsRow | null): ClusterSettings {
  return {
    dedupeFor: row?.value.dedupeForMs ?? DEFAULT_SETTINGS.dedupeForMs,
    version: row?.version ?? 0,
    updatedAt: isoOrNull(row?.updatedAt ?? null),
    updatedBy: row?.updatedBy ?? null,
  }
}
