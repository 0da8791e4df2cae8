// Codec — encodes values as text and decodes them.
// Plain JSON stays plain, readable JSON. What JSON would drop or change is tagged: {"$durably":"Date","value":"…"}.
//   C1. decode(encode(v)) is what the job sees, on the first execution and on every replay.
//   C2. What cannot be written (function, symbol, cycle, class instance) is refused, with its path.
//   C3. A text may come from outside, so it is checked before it is decoded: a tag around the wrong thing is refused at no cost.
import { DurablyError } from './errors.ts'
import { utf8Bytes } from './name.ts'

export const VALUE_BYTES_MAX = 10 * 1024 * 1024

/** A fixed limit, because stacks differ: every process must be able to read what another has written. */
export const DEPTH_MAX = 500

/** A key of 8,192 bits has 2,467 digits. Reading and writing digits takes quadratic time, and they may come from outside. */
const BIGINT = /^-?\d{1,2500}$/
const BASE64 = /^[A-Za-z\d+/]*={0,2}$/
const ISO_DATE = /^[+-]?\d{4,6}-\d\d[-\dT:.Z+]{0,25}$/

const TAG = '$durably'

export interface Codec {
  /** `null` stands for `undefined`: a column without a value. */
  encode(value: unknown, what: string): string | null
  decode(text: string | null): unknown
}

/** For what is stored: one value, of a bounded size. */
export function jsonCodec(valueBytesMax = VALUE_BYTES_MAX): Codec {
  const { encode, decode } = wireCodec(DEPTH_MAX)
  return {
    encode(value, what) {
      const text = encode(value, what)
      // A UTF-16 unit takes at most three bytes, so short texts need no counting.
      if (text !== null && text.length * 3 > valueBytesMax) {
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
    decode,
  }
}

const WRAPPING_DEPTH = 10

/** For HTTP, on both sides: many stored values at a time, each wrapped in a few more layers. */
export function wireCodec(depthMax = DEPTH_MAX + WRAPPING_DEPTH): Codec {
  return {
    encode(value, what) {
      if (value === undefined) return null
      return JSON.stringify(write(value, what, typeof value === 'object' ? new Parents(depthMax) : NO_PARENTS))
    },
    decode(text) {
      if (text === null) return undefined
      const value: unknown = JSON.parse(text)
      return text.includes(`"${TAG}"`) ? untagged(value, depthMax) : value
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
    case 'bigint': {
      const digits = value.toString()
      if (!BIGINT.test(digits)) throw refused(path, 'has more than 2500 digits')
      return tag('bigint', digits)
    }
    case 'undefined':
      return tag('undefined')
    case 'object':
      return value === null ? null : writeObject(value, path, parents)
    default:
      throw refused(path, `is a ${typeof value}`)
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
    throw refused(path, `is an instance of ${prototype.constructor?.name || 'a class'}, not a plain object,`)
  }
  const [symbol] = Object.getOwnPropertySymbols(value)
  if (symbol) throw refused(`${path}[${String(symbol)}]`, 'has a symbol as its key')
  const json: { [key: string]: Json } = {}
  for (const [key, member] of Object.entries(value)) own(json, key, write(member, `${path}.${key}`, parents))
  return Object.hasOwn(json, TAG) ? tag('object', json) : json
}

/** `room` is how many levels may follow, counted as they were when it was written. */
function untagged(json: unknown, room: number): unknown {
  if (typeof json !== 'object' || json === null) return json
  if (room === 0) throw new SyntaxError('nested too deep')
  if (Array.isArray(json)) return json.map((item) => untagged(item, room - 1))
  return Object.hasOwn(json, TAG) ? restore(json as Tagged, room) : untaggedMembers(json, room)
}

function untaggedMembers(json: object, room: number): object {
  const value = {}
  for (const [key, member] of Object.entries(json)) own(value, key, untagged(member, room - 1))
  return value
}

interface Tagged {
  [TAG]: unknown
  value?: unknown
}

/** Only a tag exactly as we write it: another member beside it would be dropped silently. */
function restore(tagged: Tagged, room: number): unknown {
  const { [TAG]: name, value } = tagged
  const size = Object.keys(tagged).length
  if (name === 'undefined' && size === 1) return undefined
  if (size === 2) {
    if (name === 'Date' && value === null) return new Date(Number.NaN)
    if (typeof value === 'string') {
      if (name === 'number' && /^(NaN|-?Infinity|-0)$/.test(value)) return Number(value)
      if (name === 'bigint' && BIGINT.test(value)) return BigInt(value)
      if (name === 'Date' && ISO_DATE.test(value) && Date.parse(value) < Infinity) return new Date(value)
      if (name === 'Uint8Array' && value.length % 4 === 0 && BASE64.test(value)) return fromBase64(value)
    } else if (Array.isArray(value)) {
      // The array itself is no level: it was none when it was written.
      if (name === 'Set') return new Set(untagged(value, room) as unknown[])
      if (name === 'Map' && value.every(isPair)) return new Map(value.map((pair) => untagged(pair, room) as [unknown, unknown]))
    } else if (name === 'object' && typeof value === 'object' && value && Object.hasOwn(value, TAG)) return untaggedMembers(value, room)
  }
  throw new SyntaxError(`cannot read a value tagged ${typeof name === 'string' ? `"${name.slice(0, 50)}"` : typeof name}`)
}

function isPair(json: unknown): boolean {
  return Array.isArray(json) && json.length === 2
}

/** A value that is undefined is left out of the text. */
function tag(name: string, value?: Json): Json {
  return { [TAG]: name, value: value as Json }
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
