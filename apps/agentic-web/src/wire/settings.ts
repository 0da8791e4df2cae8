// The settings of the user: which model answers.

export type Provider = 'demo' | 'openai' | 'anthropic' | 'openai-compatible'
export type ReasoningEffort = 'default' | 'low' | 'medium' | 'high'

/** `GET /api/settings`, with the header `ETag: "<version>"`. A key is never sent back, only whether there is one and how it ends. */
export interface SettingsView {
  version: number
  provider: Provider
  model: string
  reasoning: ReasoningEffort
  /** Of the provider `openai-compatible`, such as `http://localhost:11434/v1`; null for the others. */
  base_url: string | null
  openai_api_key: StoredKey | null
  anthropic_api_key: StoredKey | null
  compatible_api_key: StoredKey | null
  updated_at: string | null
}

export interface StoredKey {
  /** The last four characters. */
  last4: string
}

/**
 * `PATCH /api/settings` with `If-Match: "<version>"`: 200 with SettingsView, 412 `version_mismatch` if somebody changed them meanwhile, 428
 * `if_match_required`, 400 `invalid_request`. A field that is left out stays as it is. A key that is null is removed.
 */
export interface SettingsChange {
  provider?: Provider
  model?: string
  reasoning?: ReasoningEffort
  base_url?: string | null
  openai_api_key?: string | null
  anthropic_api_key?: string | null
  compatible_api_key?: string | null
}
