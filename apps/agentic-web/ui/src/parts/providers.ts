// What the settings offer.
import type { Provider, SettingsView } from '../../../src/wire/settings.ts'

export const PROVIDERS: Readonly<Record<Provider, string>> = {
  demo: 'Demo (scripted, not an AI)',
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  'openai-compatible': 'OpenAI-compatible server (Ollama, llama.cpp, vLLM)',
}

/** Filled in when a provider is chosen. Names of others change often, so the user writes them. */
export const MODELS: Readonly<Record<Provider, string>> = { demo: 'demo-scripted-1', openai: '', anthropic: '', 'openai-compatible': '' }

type KeyName = Extract<keyof SettingsView, `${string}_api_key`>

export function keyOf(provider: Provider): KeyName | undefined {
  switch (provider) {
    case 'demo':
      return undefined
    case 'openai':
      return 'openai_api_key'
    case 'anthropic':
      return 'anthropic_api_key'
    case 'openai-compatible':
      return 'compatible_api_key'
  }
}
