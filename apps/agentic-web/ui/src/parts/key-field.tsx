// A key of a provider: it can be replaced or removed, and is never shown.
import type { StoredKey } from '../../../src/wire/settings.ts'

/** Without a value the key stays as it is; null removes it. */
export interface KeyChange {
  value?: string | null
}

interface KeyFieldProps {
  stored: StoredKey | null
  change: KeyChange
  onChange: (change: KeyChange) => void
}

export function KeyField({ stored, change, onChange }: KeyFieldProps) {
  const isRemoved = change.value === null
  return (
    <>
      <label>
        Key
        <input
          className="field"
          type="password"
          autoComplete="off"
          disabled={isRemoved}
          placeholder={stored ? `stored, ends with ${stored.last4}` : 'none stored'}
          value={change.value ?? ''}
          onChange={({ target }) => onChange(target.value === '' ? {} : { value: target.value })}
        />
      </label>
      {stored && (
        <label className="check">
          <input type="checkbox" checked={isRemoved} onChange={({ target }) => onChange(target.checked ? { value: null } : {})} />
          Remove the stored key
        </label>
      )}
    </>
  )
}
