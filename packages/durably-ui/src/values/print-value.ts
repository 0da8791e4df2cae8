// A value as text for people, with the types that JSON does not have, and never more of it than asked for: a value of 5 MB is not printed
// to show its beginning.

export interface Printed {
  readonly text: string
  readonly isCut: boolean
}

const DEPTH_MAX = 40

class Full extends Error {}

export function printValue(value: unknown, charsMax: number): Printed {
  const parts: string[] = []
  let left = charsMax
  const write = (text: string) => {
    parts.push(text.slice(0, left))
    left -= text.length
    if (left < 0) throw new Full()
  }
  try {
    print(value, write, 0)
    return { text: parts.join(''), isCut: false }
  } catch (error) {
    if (!(error instanceof Full)) throw error
    return { text: parts.join(''), isCut: true }
  }
}

type Write = (text: string) => void

function print(value: unknown, write: Write, depth: number): void {
  if (typeof value === 'string') return printText(value, write)
  if (typeof value === 'bigint') return write(`${value}n`)
  if (typeof value !== 'object' || value === null) return write(Object.is(value, -0) ? '-0' : String(value))
  if (depth > DEPTH_MAX) return write('…')
  if (value instanceof Date) return write(`Date ${Number.isNaN(value.getTime()) ? 'invalid' : value.toISOString()}`)
  if (value instanceof Uint8Array) return write(`Uint8Array of ${value.length} bytes`)
  if (Array.isArray(value)) return printMany('[', value, ']', write, depth, (item) => print(item, write, depth + 1))
  if (value instanceof Set) return printMany('Set [', value, ']', write, depth, (item) => print(item, write, depth + 1))
  const entries = value instanceof Map ? value : Object.entries(value)
  printMany(value instanceof Map ? 'Map {' : '{', entries, '}', write, depth, ([key, item]) => {
    print(key, write, depth + 1)
    write(value instanceof Map ? ' → ' : ': ')
    print(item, write, depth + 1)
  })
}

/** A slice at a time, so that a long text is not escaped as a whole. */
function printText(text: string, write: Write): void {
  write('"')
  for (let i = 0; i < text.length; i += 4096) write(JSON.stringify(text.slice(i, i + 4096)).slice(1, -1))
  write('"')
}

function printMany<T>(open: string, items: Iterable<T>, close: string, write: Write, depth: number, printOne: (item: T) => void): void {
  write(open)
  let isEmpty = true
  for (const item of items) {
    write(`${isEmpty ? '' : ','}\n${'  '.repeat(depth + 1)}`)
    isEmpty = false
    printOne(item)
  }
  write(isEmpty ? close : `\n${'  '.repeat(depth)}${close}`)
}
