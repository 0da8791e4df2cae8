// Reads the body of a request: JSON of a limited size and depth, checked before it is parsed.
import { DurablyError } from '../model/errors.ts'
import { wire } from './json-response.ts'

export interface BodyLimits {
  maxBodyBytes: number
  maxJsonDepth: number
}

/** The body must be a JSON object; these are its members. */
export async function readBody(request: Request, limits: BodyLimits): Promise<Record<string, unknown>> {
  if (request.headers.get('Content-Type') === null) throw unsupported('nothing')
  const text = await readText(request, limits.maxBodyBytes)
  checkDepth(text, limits.maxJsonDepth)
  const body = parse(text)
  if (!isPlainObject(body)) throw new DurablyError('invalid_json', 'the body must be a JSON object')
  return body
}

/** Not an array, and not a value that the codec made of a tag. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

/** Checks every request that has a content type, also where no body is read: a form of another site cannot send JSON. */
export function refuseForeignType(request: Request): void {
  const type = request.headers.get('Content-Type')
  if (type !== null && !isJson(type)) throw unsupported(JSON.stringify(type))
}

function isJson(type: string): boolean {
  const [name, ...parameters] = type.split(';').map((part) => part.trim().toLowerCase())
  return name === 'application/json' && parameters.every((parameter) => UTF_8.has(parameter))
}

/** The empty parameter comes from a semicolon at the end. */
const UTF_8: ReadonlySet<string> = new Set(['charset=utf-8', 'charset="utf-8"', ''])

function unsupported(type: string): DurablyError {
  return new DurablyError('unsupported_media_type', `the Content-Type of a body must be application/json in UTF-8, got ${type}`)
}

async function readText(request: Request, bytesMax: number): Promise<string> {
  if (Number(request.headers.get('Content-Length') ?? 0) > bytesMax) throw tooLarge(bytesMax)
  // `request.text()` would replace malformed UTF-8; the body shall be refused instead.
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const reader = request.body?.getReader()
  if (!reader) return ''
  let text = ''
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read().catch(cutOff)
    if (done) return text + decoded(() => decoder.decode())
    bytes += value.byteLength
    if (bytes > bytesMax) {
      // The rest is not read. The sender may notice that late, or never.
      reader.cancel().catch(() => {})
      throw tooLarge(bytesMax)
    }
    text += decoded(() => decoder.decode(value, { stream: true }))
  }
}

function cutOff(cause: unknown): never {
  throw new DurablyError('invalid_json', 'the body could not be read to its end', { cause })
}

function decoded(decode: () => string): string {
  try {
    return decode()
  } catch {
    throw new DurablyError('invalid_json', 'the body is not well-formed UTF-8')
  }
}

function tooLarge(bytesMax: number): DurablyError {
  return new DurablyError('body_too_large', `the body is larger than ${bytesMax} bytes; keep large data elsewhere and send a reference`)
}

function checkDepth(text: string, depthMax: number): void {
  let depth = 0
  let isString = false
  for (let i = 0; i < text.length; i++) {
    const char = text[i]
    if (isString) {
      if (char === '\\') i += 1
      else if (char === '"') isString = false
    } else if (char === '"') isString = true
    else if (char === '}' || char === ']') depth -= 1
    else if (char === '{' || char === '[') {
      depth += 1
      if (depth > depthMax) throw new DurablyError('invalid_json', `the body is nested more than ${depthMax} levels deep`)
    }
  }
}

function parse(text: string): unknown {
  try {
    return wire.decode(text)
  } catch (cause) {
    throw new DurablyError('invalid_json', `the body is not JSON that can be read: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    })
  }
}
