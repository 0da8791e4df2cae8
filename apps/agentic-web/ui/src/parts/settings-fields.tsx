// The fields of the settings.
import type { Provider, ReasoningEffort } from '../../../src/wire/settings.ts'
import { PROVIDERS } from './providers.ts'

interface FieldProps<T> {
  value: T
  onChange: (value: T) => void
}

export function ProviderChoice({ value, onChange }: FieldProps<Provider>) {
  return (
    <label>
      Provider
      <select className="field" value={value} onChange={({ target }) => onChange(target.value as Provider)}>
        {Object.entries(PROVIDERS).map(([provider, name]) => (
          <option key={provider} value={provider}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

export function Address({ value, onChange }: FieldProps<string>) {
  return (
    <label>
      Address of the server
      <input
        className="field"
        type="url"
        required
        placeholder="http://localhost:11434/v1"
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  )
}

export function ModelName({ value, isFixed, onChange }: FieldProps<string> & { isFixed: boolean }) {
  return (
    <label>
      Model
      <input
        className="field"
        required
        readOnly={isFixed}
        spellCheck={false}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  )
}

export function Reasoning({ value, onChange }: FieldProps<ReasoningEffort>) {
  return (
    <label>
      Reasoning
      <select className="field" value={value} onChange={({ target }) => onChange(target.value as ReasoningEffort)}>
        {['default', 'low', 'medium', 'high'].map((effort) => (
          <option key={effort}>{effort}</option>
        ))}
      </select>
    </label>
  )
}
