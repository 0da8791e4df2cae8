// Which model answers. The change names the version that it was made from, so two tabs cannot undo each other's changes.
import { type FormEvent, useState } from 'react'
import type { MeView } from '../../../src/wire/account.ts'
import type { Provider, SettingsChange, SettingsView } from '../../../src/wire/settings.ts'
import { changeSettings, readSettings } from '../api/api.ts'
import { ApiError } from '../api/request.ts'
import { Account } from './account.tsx'
import { Connections } from './connections.tsx'
import { Dialog } from './dialog.tsx'
import { type KeyChange, KeyField } from './key-field.tsx'
import { keyOf, MODELS } from './providers.ts'
import { Address, ModelName, ProviderChoice, Reasoning } from './settings-fields.tsx'

interface SettingsDialogProps {
  me: MeView
  settings: SettingsView
  onChanged: (settings: SettingsView) => void
  onClose: () => void
}

export function SettingsDialog({ me, settings, onChanged, onClose }: SettingsDialogProps) {
  const [provider, setProvider] = useState(settings.provider)
  const [model, setModel] = useState(settings.model)
  const [reasoning, setReasoning] = useState(settings.reasoning)
  const [baseUrl, setBaseUrl] = useState(settings.base_url ?? '')
  const [key, setKey] = useState<KeyChange>({})
  const [problem, setProblem] = useState<string | null>(null)
  const keyName = keyOf(provider)

  const choose = (chosen: Provider) => {
    setProvider(chosen)
    setModel(chosen === settings.provider ? settings.model : MODELS[chosen])
    setKey({})
  }
  const save = async (event: FormEvent) => {
    event.preventDefault()
    const change: SettingsChange = {
      provider,
      model,
      reasoning,
      ...(provider === 'openai-compatible' && { base_url: baseUrl.trim() || null }),
      ...(keyName && key.value !== undefined && { [keyName]: key.value }),
    }
    try {
      onChanged(await changeSettings(change, settings.version))
      onClose()
    } catch (error) {
      const isOld = error instanceof ApiError && error.code === 'version_mismatch'
      setProblem(isOld ? 'The settings were changed elsewhere meanwhile. Save again to replace them.' : (error as Error).message)
      if (isOld) onChanged(await readSettings())
    }
  }
  return (
    <Dialog title="Settings" onClose={onClose}>
      <form className="form" onSubmit={save}>
        <ProviderChoice value={provider} onChange={choose} />
        {provider === 'demo' && (
          <p className="banner">
            The demo model is a script, not an AI. It knows a few requests and does them with real tools, so that everything else can be
            tried without a key.
          </p>
        )}
        {provider === 'openai-compatible' && <Address value={baseUrl} onChange={setBaseUrl} />}
        <ModelName value={model} isFixed={provider === 'demo'} onChange={setModel} />
        {provider !== 'demo' && <Reasoning value={reasoning} onChange={setReasoning} />}
        {keyName && <KeyField key={keyName} stored={settings[keyName]} change={key} onChange={setKey} />}
        {problem && (
          <p className="banner bad" role="alert">
            {problem}
          </p>
        )}
        <footer className="form-actions">
          <button type="button" className="quiet-button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button">
            Save
          </button>
        </footer>
      </form>
      <Connections />
      {me.mode !== 'dev' && <Account me={me} />}
    </Dialog>
  )
}
