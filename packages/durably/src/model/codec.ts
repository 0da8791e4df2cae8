// Codec — how values are written down.
// Plain JSON stays plain, readable JSON. What JSON would drop or change is tagged: {"$durably":"Date","value":"…"}.
//   C1. decode(encode(v)) is what the job sees, on the first execution and on every replay.
//   C2. What cannot be written (function, symbol, cycle, class instance) is refused, with its path.
import { DurablyError } from './errors.ts'
import { utf8Bytes } from './name.ts'

export const VALUE_BYTES_MAX = 10 * 1024 * 1024

/** What one process writes every other must be able to read, and stacks differ; the limit must not depend on them. */
export const DEPTH_MAX = 500

const TAG = '$durably'

export interface Codec {
  /** `null` stands for `undefined`: a column without a value. */
  encode(value: unknown, what: string): string | null
  decode(text: string | null): unknown
}

/** For what goes over a wire: values that were stored, wrapped in a few layers more, and many at a time. */
export function wireCodec(): Codec {
  return jsonCodec(Number.POSITIVE_INFINITY, DEPTH_MAX + WRAPPING_DEPTH)
}

const WRAPPING_DEPTH = 10

export function jsonCodec(valueBytesMax = VALUE_BYTES_MAX, depthMax = DEPTH_MAX): Codec {
  return {
    encode(value, what) {
      if (value === undefined) return null
      const parents = typeof value === 'object' ? new Parents(depthMax) : NO_PARENTS
      const text = JSON.stringify(write(value, what, parents))
      // A UTF-16 unit takes at most three bytes, so short texts need no counting.
      if (text.length * 3 > valueBytesMax) {
        const bytes = utf8Bytes(text)
        if (bytes > valueBytesMax) {
          throw new DurablyError(
            'value_too_large',
            `${what} takes ${bytes} bytes, the limit is ${valueBytesMax}; store it elsewhere and keep a reference, or raise maxValueBytes`,
          )
        }
      }
      return text
    },
    decode(text) {
      if (text === null) return undefined
      const value: unknown = JSON.parse(text)
      return text.includes(`"${TAG}"`) ? untagged(value) : value
    },
  }
}

/** The objects that a value is inside of. */
class Parents extends Set<object> {
  readonly depthMax: number
  constructor(depthMax: number) {
    super()
    this.depthMax = depthMax
  }
}

const NO_PARENTS = new Parents(0)

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

function write(value: unknown, path: string, parents: Parents): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      if (Number.isFinite(value) && !Object.is(value, -0)) return value
      return tag('number', Object.is(value, -0) ? '-0' : String(value))
    case 'bigint':
      return tag('bigint', value.toString())
    case 'undefined':
      return tag('undefined')
    case 'function':
      throw refused(path, 'is a function')
    case 'symbol':
      throw refused(path, 'is a symbol')
    default:
      return value === null ? null : writeObject(value as object, path, parents)
  }
}

function writeObject(value: object, path: string, parents: Parents): Json {
  if (parents.has(value)) throw refused(path, 'refers back to itself')
  if (parents.size === parents.depthMax) throw refused(`${path.slice(0, 100)}…`, `is nested more than ${parents.depthMax} levels deep`)
  parents.add(value)
  const json = writeMembers(value, path, parents)
  parents.delete(value)
  return json
}

function writeMembers(value: object, path: string, parents: Parents): Json {
  if (Array.isArray(value)) return Array.from(value, (item, i) => write(item, `${path}[${i}]`, parents))
  if (value instanceof Date) return tag('Date', Number.isNaN(value.getTime()) ? null : value.toISOString())
  if (value instanceof Uint8Array) return tag('Uint8Array', toBase64(value))
  if (value instanceof Map) {
    return tag(
      'Map',
      Array.from(value, ([k, v], i) => [write(k, `${path}.key(${i})`, parents), write(v, `${path}.get(${i})`, parents)]),
    )
  }
  if (value instanceof Set)
    return tag(
      'Set',
      Array.from(value, (item, i) => write(item, `${path}.item(${i})`, parents)),
    )
  return writePlain(value, path, parents)
}

function writePlain(value: object, path: string, parents: Parents): Json {
  const prototype: object | null = Object.getPrototypeOf(value)
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw refused(path, `is an instance of ${prototype.constructor?.name || 'a class'}; return a plain object`)
  }
  const [symbol] = Object.getOwnPropertySymbols(value)
  if (symbol) throw refused(`${path}[${String(symbol)}]`, 'has a symbol as its key')
  const json: { [key: string]: Json } = {}
  for (const [key, member] of Object.entries(value)) own(json, key, write(member, `${path}.${key}`, parents))
  return Object.hasOwn(json, TAG) ? tag('object', json) : json
}

function untagged(json: unknown): unknown {
  if (typeof json !== 'object' || json === null) return json
  if (Array.isArray(json)) return json.map(untagged)
  if (Object.hasOwn(json, TAG)) return restore(json as { [TAG]: string; value?: unknown })
  return untaggedMembers(json)
}

function untaggedMembers(json: object): object {
  const value = {}
  for (const [key, member] of Object.entries(json)) own(value, key, untagged(member))
  return value
}

function restore(json: { [TAG]: string; value?: unknown }): unknown {
  switch (json[TAG]) {
    case 'undefined':
      return undefined
    case 'number':
      return Number(json.value)
    case 'bigint':
      return BigInt(json.value as string)
    case 'Date':
      return new Date(json.value === null ? Number.NaN : (json.value as string))
    case 'Uint8Array':
      return fromBase64(json.value as string)
    case 'Map':
      return new Map((json.value as [unknown, unknown][]).map(([k, v]) => [untagged(k), untagged(v)]))
    case 'Set':
      return new Set((json.value as unknown[]).map(untagged))
    case 'object':
      return untaggedMembers(json.value as object)
    default:
      throw new SyntaxError(`unknown value tag ${JSON.stringify(json[TAG])}`)
  }
}

function tag(name: string, value?: Json): Json {
  return value === undefined ? { [TAG]: name } : { [TAG]: name, value }
}

/** Assignment would take `__proto__` for the prototype. */
function own(target: object, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  else (target as Record<string, unknown>)[key] = value
}

/** All bytes as arguments of one call would overflow the stack, hence the blocks. */
const BASE64_BLOCK = 8192

// No spread and no `Uint8Array.from`: both iterate, and a 7 MB value would hold the event loop for a second.
function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let i = 0; i < bytes.length; i += BASE64_BLOCK) {
    binary += Reflect.apply(String.fromCharCode, null, bytes.subarray(i, i + BASE64_BLOCK))
  }
  return btoa(binary)
}

function fromBase64(text: string): Uint8Array {
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i)
  return bytes
}

function refused(path: string, problem: string): DurablyError {
  return new DurablyError('value_not_serializable', `${path} ${problem} and cannot be stored`)
}
