// A value as JSON for a file. What JSON cannot express is written as the server writes it: {"$durably":"Date","value":"…"}.

export function jsonOf(value: unknown): string {
  return JSON.stringify(tagged(value), null, 2) ?? 'null'
}

function tagged(value: unknown): unknown {
  if (typeof value === 'bigint') return tag('bigint', String(value))
  if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0)))
    return tag('number', Object.is(value, -0) ? '-0' : String(value))
  if (value === undefined) return { $durably: 'undefined' }
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Date) return tag('Date', Number.isNaN(value.getTime()) ? null : value.toISOString())
  if (value instanceof Uint8Array) return tag('Uint8Array', btoa(Array.from(value, (byte) => String.fromCharCode(byte)).join('')))
  if (value instanceof Map)
    return tag(
      'Map',
      Array.from(value, ([key, item]) => [tagged(key), tagged(item)]),
    )
  if (value instanceof Set) return tag('Set', Array.from(value, tagged))
  if (Array.isArray(value)) return value.map(tagged)
  const plain = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, tagged(item)]))
  return Object.hasOwn(value, '$durably') ? tag('object', plain) : plain
}

function tag(type: string, value: unknown): object {
  return { $durably: type, value }
}
