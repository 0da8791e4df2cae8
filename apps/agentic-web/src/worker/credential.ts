// What a run proves to the model's server that it may ask. It is resolved in the worker, right before each call, and is in no payload, step or event.
import { AgentError } from '../agent-error.ts'
import type { App } from '../app.ts'
import { type KeyName, openSecret } from '../db/secrets.ts'
import type { StoredSettings } from '../db/settings.ts'
import { SecretUnreadable } from '../secrets/key-ring.ts'

const KEY_OF = {
  openai: 'openai_api_key',
  anthropic: 'anthropic_api_key',
  'openai-compatible': 'compatible_api_key',
} as const satisfies Record<string, KeyName>

/** Undefined if the user has none. A key in the environment of the worker is not taken: it would be lent to every user. */
export async function credentialOf({ db, keys }: App, userId: string, { provider }: StoredSettings): Promise<string | undefined> {
  if (provider === 'demo') return undefined
  return openSecret(db, userId, KEY_OF[provider], keys).catch(explain)
}

function explain(error: unknown): never {
  if (!(error instanceof SecretUnreadable)) throw error
  throw new AgentError(
    'secret_unreadable',
    'Your stored key cannot be read on this server. Open the settings, enter the key again and retry; if that does not help, the operator has to check APP_KEYS.',
  )
}
