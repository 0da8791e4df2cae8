// The model that the settings name, through the AI SDK. The demo model is reached the same way as any server that speaks OpenAI's protocol.
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { JSONValue, LanguageModel } from 'ai'
import type { Config } from '../config.ts'
import { DEMO_MODEL, type StoredSettings } from '../db/settings.ts'

export interface ChosenModel {
  model: LanguageModel
  /** The key that is sent, so that it can be taken out of errors. */
  key: string | undefined
  options: Record<string, Record<string, JSONValue>>
}

/** Tokens for Anthropic's thinking. */
const THINKING = { low: 2048, medium: 8192, high: 24_576 }

/** Undefined if the provider needs a key and there is none. */
export function chooseModel(
  settings: StoredSettings,
  key: string | undefined,
  { demoModelUrl, oauth }: Pick<Config, 'demoModelUrl' | 'oauth'>,
): ChosenModel | undefined {
  const { provider, model, reasoning } = settings
  if (provider === 'demo') {
    const demo = createOpenAICompatible({ name: 'demo', baseURL: demoModelUrl, includeUsage: true })
    return { model: demo(DEMO_MODEL), key: undefined, options: {} }
  }
  if (key === undefined && provider !== 'openai-compatible') return undefined
  const auth = key === undefined ? {} : { apiKey: key }
  const effort = reasoning === 'default' ? undefined : reasoning
  switch (provider) {
    case 'openai':
      return {
        model: createOpenAI({ ...auth, ...(oauth.providers.openai?.apiUrl && { baseURL: oauth.providers.openai.apiUrl }) })(model),
        key,
        options: effort ? { openai: { reasoningEffort: effort } } : {},
      }
    case 'anthropic': {
      const thinking = effort && { type: 'enabled', budgetTokens: THINKING[effort] }
      return { model: createAnthropic(auth)(model), key, options: thinking ? { anthropic: { thinking } } : {} }
    }
    case 'openai-compatible': {
      const compatible = createOpenAICompatible({ name: 'compatible', baseURL: settings.base_url ?? '', includeUsage: true, ...auth })
      return { model: compatible(model), key, options: effort ? { compatible: { reasoningEffort: effort } } : {} }
    }
  }
}
