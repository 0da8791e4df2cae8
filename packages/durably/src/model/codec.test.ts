import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DEPTH_MAX, jsonCodec, VALUE_BYTES_MAX, wireCodec } from './codec.ts'
import { DurablyError } from './errors.ts'

const codec = jsonCodec()

function roundTrip(value: unknown): unknown {
  return codec.decode(codec.encode(value, 'value'))
}

function refusal(value: unknown, what = 'value', limited = codec): DurablyError {
  try {
    limited.encode(value, what)
  } catch (error) {
    if (error instanceof DurablyError) return error
    throw error
  }
  throw new Error('the value was accepted')
}

function nested(levels: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 'bottom'
  for (let i = 0; i < levels; i++) value = wrap(value)
  return value
}

const LONE_SURROGATES = 'a\ud800b\udc00'

describe('values that survive (DESIGN §3)', () => {
  test.each<[string, unknown]>([
    ['null', null],
    ['a boolean', false],
    ['an empty string', ''],
    ['a string with NUL, quotes and a newline', 'a\0"b"\\\n'],
    ['lone surrogates', LONE_SURROGATES],
    ['emoji and right-to-left text', '👩‍👩‍👧 שלום'],
    ['the largest safe integer', Number.MAX_SAFE_INTEGER],
    ['the smallest number', Number.MIN_VALUE],
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['-Infinity', Number.NEGATIVE_INFINITY],
    ['0', 0],
    ['-0', -0],
    ['a BigInt', 2n ** 200n],
    ['a negative BigInt', -1n],
    ['the largest and the smallest BigInt', [10n ** 2500n - 1n, 1n - 10n ** 2500n]],
    ['a Date', new Date('2026-01-02T03:04:05.678Z')],
    ['a Date before 1970', new Date(-1)],
    ['the first and the last Date', [new Date(-8.64e15), new Date(8.64e15)]],
    ['an invalid Date', new Date(Number.NaN)],
    ['an empty Map and Set', [new Map(), new Set()]],
    ['bytes', new Uint8Array([0, 1, 127, 128, 255])],
    ['no bytes', new Uint8Array()],
    ['undefined among members', { a: undefined, b: [undefined, 1, undefined] }],
    ['undefined in a Map and a Set', [new Map([[undefined, undefined]]), new Set([undefined])]],
    ['an empty object and array', [{}, []]],
    ['every tagged kind, nested', { m: new Map([['s', new Set([1n, -0, new Date(0)])]]), l: [[Number.NaN], { u: undefined }] }],
  ])('%s', (_, value) => {
    expect(roundTrip(value)).toStrictEqual(value)
  })

  test('undefined alone is a column without a value', () => {
    expect(codec.encode(undefined, 'value')).toBeNull()
    expect(codec.decode(null)).toBeUndefined()
  })

  test('null is a value, not the absence of one', () => {
    expect(codec.encode(null, 'value')).toBe('null')
  })

  test('a Map keeps keys of every kind and their order', () => {
    const entries: [unknown, unknown][] = [
      [{ a: 1 }, 'object'],
      [[1, 2], 'array'],
      [new Date(0), 'date'],
      [Number.NaN, 'NaN'],
      [null, 'null'],
      [1n, 'bigint'],
      ['1', 'text'],
      [1, 'number'],
      [new Map([[new Set([1]), 2]]), 'map'],
    ]
    expect([...(roundTrip(new Map(entries)) as Map<unknown, unknown>)]).toStrictEqual(entries)
  })

  test('bytes of several megabytes, and a Buffer that is a window on a larger one', () => {
    const large = new Uint8Array(3_000_001).map((_, i) => i * 7)
    expect(Buffer.compare(roundTrip(large) as Uint8Array, large)).toBe(0)

    const window = Buffer.from('xxhelloxx').subarray(2, 7)
    const read = roundTrip(window)
    expect(read).toBeInstanceOf(Uint8Array)
    expect(Buffer.isBuffer(read)).toBe(false)
    expect(new TextDecoder().decode(read as Uint8Array)).toBe('hello')
  })

  test('an object met twice without a cycle is written twice', () => {
    const shared = { a: new Date(0) }
    const read = roundTrip({ left: shared, right: [shared, shared] })
    expect(read).toStrictEqual({ left: shared, right: [shared, shared] })
  })

  test('holes of a sparse array come back as undefined', () => {
    const sparse: unknown[] = []
    sparse[2] = 'x'
    expect(roundTrip(sparse)).toStrictEqual([undefined, undefined, 'x'])
  })

  test('an object without a prototype comes back as a plain object', () => {
    const bare: Record<string, unknown> = Object.create(null)
    bare.a = 1n
    expect(roundTrip(bare)).toStrictEqual({ a: 1n })
  })

  test('the heirs of built-in containers come back as what they extend', () => {
    class Rows extends Array<number> {}
    const read = roundTrip(Rows.of(1, 2))
    expect(read).toStrictEqual([1, 2])
    expect(read).not.toBeInstanceOf(Rows)
  })

  test('whatever is built from these values (property)', () => {
    fc.assert(
      fc.property(anyValue(), (value) => {
        const text = codec.encode(value, 'value')
        const read = codec.decode(text)
        expect(read).toStrictEqual(value)
        // Equality does not look at the order of Map and Set; the text does.
        expect(codec.encode(read, 'value')).toBe(text)
      }),
      { numRuns: 500 },
    )
  })
})

describe('plain JSON', () => {
  test.each<[string, unknown]>([
    ['numbers, strings, nesting', { id: 1, tags: ['a', 'b'], nested: { deep: [null, true, 1.5e300] } }],
    ['keys that look like numbers', { b: 1, 2: 'two', 1: 'one' }],
    ['text that JSON escapes', [LONE_SURROGATES, '\0', '\u2028', '"', '日本語']],
    ['a member called toJSON', { toJSON: 'text' }],
  ])('is stored byte for byte as JSON.stringify writes it: %s', (_, value) => {
    expect(codec.encode(value, 'value')).toBe(JSON.stringify(value))
  })

  test('is stored as JSON.stringify writes it (property)', () => {
    const json = fc.jsonValue().filter((value) => !JSON.stringify(value).includes('$durably') && !hasNegativeZero(value))
    fc.assert(
      fc.property(json, (value) => {
        expect(codec.encode(value, 'value')).toBe(JSON.stringify(value))
      }),
    )
  })
})

describe('the stored form, which later versions must read', () => {
  test.each<[unknown, string]>([
    [[undefined], '[{"$durably":"undefined"}]'],
    [Number.NaN, '{"$durably":"number","value":"NaN"}'],
    [Number.NEGATIVE_INFINITY, '{"$durably":"number","value":"-Infinity"}'],
    [-0, '{"$durably":"number","value":"-0"}'],
    [12n, '{"$durably":"bigint","value":"12"}'],
    [new Date(0), '{"$durably":"Date","value":"1970-01-01T00:00:00.000Z"}'],
    [new Date(Number.NaN), '{"$durably":"Date","value":null}'],
    [new Uint8Array([255, 0]), '{"$durably":"Uint8Array","value":"/wA="}'],
    [new Map([['k', 1n]]), '{"$durably":"Map","value":[["k",{"$durably":"bigint","value":"1"}]]}'],
    [new Set(['a']), '{"$durably":"Set","value":["a"]}'],
    [{ $durably: 1 }, '{"$durably":"object","value":{"$durably":1}}'],
  ])('%o', (value, text) => {
    expect(codec.encode(value, 'value')).toBe(text)
    expect(codec.decode(text)).toStrictEqual(value)
  })
})

describe('keys that could be mistaken', () => {
  test.each<[string, unknown]>([
    ['a tag with a string', { $durably: 'Date', value: '2026' }],
    ['a tag with anything', { $durably: { $durably: undefined } }],
    ['the text of a tag', ['$durably', { text: '{"$durably":"bigint","value":"1"}' }]],
    ['a tag inside tagged values', new Map([[{ $durably: 1n }, new Set([{ $durably: 'object' }])]])],
  ])('a user object with the key "$durably" stays what it is: %s', (_, value) => {
    expect(roundTrip(value)).toStrictEqual(value)
  })

  test.each(['{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}', '{"__proto__":{"$durably":"undefined"}}'])(
    '__proto__ and constructor are own keys and pollute nothing: %s',
    (text) => {
      const value: object = JSON.parse(text)
      const read = roundTrip(value) as object
      expect(Object.keys(read)).toStrictEqual(Object.keys(value))
      expect(Object.getPrototypeOf(read)).toBe(Object.prototype)
      expect(codec.encode(read, 'value')).toBe(codec.encode(value, 'value'))
      expect(Object.getPrototypeOf(codec.decode(text))).toBe(Object.prototype)
      expect('polluted' in {}).toBe(false)
    },
  )
})

describe('values that cannot be stored', () => {
  class Point {
    x = 1
  }
  const cycle: Record<string, unknown> = { list: [] }
  ;(cycle.list as unknown[]).push({ back: cycle })
  const mapCycle = new Map<string, unknown>()
  mapCycle.set('self', mapCycle)

  test.each<[string, unknown, string]>([
    ['a function', { a: [1, () => 1] }, 'output.a[1] is a function'],
    ['a class', Point, 'output is a function'],
    ['a symbol', { s: Symbol('x') }, 'output.s is a symbol'],
    ['a BigInt beyond the limit', [10n ** 2500n], 'output[0] has more than 2500 digits'],
    ['a negative BigInt beyond the limit', -(10n ** 2500n), 'output has more than 2500 digits'],
    ['a symbol as key', { deep: { [Symbol('k')]: 1 } }, 'output.deep[Symbol(k)] has a symbol as its key'],
    ['a cycle', cycle, 'output.list[0].back refers back to itself'],
    ['a cycle through a Map', mapCycle, 'output.get(0) refers back to itself'],
    ['a class instance', { p: new Point() }, 'output.p is an instance of Point, not a plain object,'],
    ['an instance of a nameless class', [new (class {})()], 'output[0] is an instance of a class, not a plain object,'],
    ['an Error', { e: new TypeError('x') }, 'output.e is an instance of TypeError, not a plain object,'],
    ['a Promise', { late: Promise.resolve() }, 'output.late is an instance of Promise, not a plain object,'],
    ['a RegExp', /x/, 'output is an instance of RegExp, not a plain object,'],
    ['another typed array', new Float64Array(1), 'output is an instance of Float64Array, not a plain object,'],
    ['a boxed number', Object(1), 'output is an instance of Number, not a plain object,'],
    ['a bad key of a Map', new Map([[Symbol('k'), 1]]), 'output.key(0) is a symbol'],
    ['a bad value of a Map', new Map([['k', () => 1]]), 'output.get(0) is a function'],
    ['a bad item of a Set', new Set([1, new Set([Symbol('i')])]), 'output.item(1).item(0) is a symbol'],
  ])('%s is refused with its path', (_, value, message) => {
    const error = refusal(value, 'output')
    expect(error.code).toBe('value_not_serializable')
    expect(error.message).toBe(`${message} and cannot be stored`)
  })

  test.each<[string, (inner: unknown) => unknown]>([
    ['arrays', (inner) => [inner]],
    ['objects', (inner) => ({ a: inner })],
    ['Maps', (inner) => new Map([[inner, 1]])],
    ['Sets', (inner) => new Set([inner])],
    ['objects with the tag as key', (inner) => ({ $durably: inner })],
  ])('nesting has a limit that depends on no stack: %s', (_, wrap) => {
    const deepest = nested(DEPTH_MAX, wrap)
    const text = codec.encode(deepest, 'output')
    expect(codec.encode(codec.decode(text), 'output')).toBe(text)

    for (const levels of [DEPTH_MAX + 1, 100_000]) {
      const error = refusal(nested(levels, wrap), 'output')
      expect(error.code).toBe('value_not_serializable')
      expect(error.message).toMatch(/^output[.[].*… is nested more than 500 levels deep and cannot be stored$/)
      expect(error.message.length).toBeLessThan(200)
    }
  })

  test('an error of a getter passes through', () => {
    const value = {
      get bad() {
        throw new RangeError('mine')
      },
    }
    expect(() => codec.encode(value, 'value')).toThrow(new RangeError('mine'))
  })
})

describe('the size limit', () => {
  test.each<[string, string, number]>([
    ['one byte', 'x', 1],
    ['two bytes', 'é', 2],
    ['three bytes', '語', 3],
    ['four bytes', '😀', 4],
    ['an escaped NUL', '\0', 6],
    ['an escaped lone surrogate', '\ud800', 6],
  ])('counts bytes of the stored text, exactly: %s per character', (_, char, bytes) => {
    const value = char.repeat(50)
    const size = 50 * bytes + 2
    expect(jsonCodec(size).encode(value, 'value')).toBe(JSON.stringify(value))
    const error = refusal(value, 'step "load"', jsonCodec(size - 1))
    expect(error.code).toBe('value_too_large')
    expect(error.message).toContain(`step "load" takes ${size} bytes, the limit is ${size - 1}`)
  })

  test('is 10 MiB unless set otherwise', () => {
    expect(codec.encode('x'.repeat(VALUE_BYTES_MAX - 2), 'value')).toHaveLength(VALUE_BYTES_MAX)
    expect(refusal('x'.repeat(VALUE_BYTES_MAX - 1)).code).toBe('value_too_large')
    expect(VALUE_BYTES_MAX).toBe(10 * 1024 * 1024)
  })
})

describe('texts that cannot be read', () => {
  test.each([
    ['an unknown tag', '{"$durably":"Temporal","value":"x"}', /cannot read a value tagged "Temporal"/],
    ['an unknown tag, nested', '[{"a":{"$durably":"Temporal"}}]', /cannot read a value tagged "Temporal"/],
    ['a tag that is no string', '{"$durably":1}', /cannot read a value tagged number/],
    ['a long tag', `{"$durably":"${'x'.repeat(1000)}"}`, /^cannot read a value tagged "x{50}"$/],
    ['a tag of Object.prototype', '{"$durably":"constructor"}', /cannot read a value tagged "constructor"/],
    ['a tag that is a value', `{"$durably":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, /^cannot read a value tagged object$/],
    ['a broken BigInt', '{"$durably":"bigint","value":"1.5"}', /tagged "bigint"/],
    ['a tag inside a wrong one', '{"$durably":"Set","value":[{"$durably":"Map","value":[[1]]}]}', /tagged "Map"/],
    ['no JSON', '{"a":', /JSON/],
    ['nothing', '', /JSON/],
  ])('%s throws', (_, text, message) => {
    expect(() => codec.decode(text)).toThrow(message)
  })

  /** What each tag may not hold. Some of it cost seconds before it was refused, or was read. */
  const WRONG: Record<string, unknown[]> = {
    number: ['1', '', 'Nan', 'x'.repeat(1_000_000), 1, null, ['NaN'], { toString: 'NaN' }, undefined],
    bigint: ['', '-', '1.5', '0x10', ' 1', '1n', '9'.repeat(1_000_000), '9'.repeat(2501), 1, null, ['1'], {}, undefined],
    Date: [
      '',
      '1',
      'noon',
      '2026-13-01T00:00:00.000Z',
      '2026-01-01T00:00:00.000Z'.padEnd(100, ' '),
      'x'.repeat(1_000_000),
      0,
      [],
      undefined,
    ],
    Uint8Array: ['*', 'A', 'A===', 'AAAAA', '====', 'AA_A', 'x'.repeat(1_000_001), 1, null, ['AAAA'], {}, undefined],
    Map: ['x'.repeat(1_000_000), {}, null, 1, [1], [[1]], [[1, 2, 3]], [[1, 2], 'ab'], [{ length: 2 }], undefined],
    Set: ['x'.repeat(1_000_000), {}, { length: 1e9 }, null, 1, undefined],
    object: ['x'.repeat(1_000_000), [], [['a', 1]], {}, { a: 1 }, null, 1, undefined],
    undefined: [null, 1, {}, [], 'x'],
  }
  test.each(Object.entries(WRONG))('a %s around the wrong thing throws and names it', (name, values) => {
    for (const value of values)
      for (const json of [{ $durably: name, value }, [{ deep: { $durably: name, value } }]])
        expect(() => codec.decode(JSON.stringify(json))).toThrow(`cannot read a value tagged "${name}"`)
  })

  test.each([
    '{"$durably":"undefined","a":1}',
    '{"$durably":"Date","value":null,"a":1}',
    '{"$durably":"bigint","value":"1","a":1}',
    '{"$durably":"Set","value":[],"a":{"$durably":"undefined"}}',
    '{"$durably":"object","value":{"$durably":1},"a":1}',
    '{"$durably":"object","a":{"$durably":1}}',
    '{"$durably":"undefined","__proto__":1}',
  ])('a tag with more beside it throws and names it: %s', (text) => {
    for (const json of [text, `[{"deep":${text}}]`]) expect(() => codec.decode(json)).toThrow(/^cannot read a value tagged "\w+"$/)
  })

  test('as others write them they are read', () => {
    const dates = ['2026-01-02', '2026-01-02T03:04:05Z', '2026-01-02T03:04:05.678901+00:00', '+275760-09-13T00:00:00.000Z']
    for (const value of dates) expect(codec.decode(JSON.stringify({ $durably: 'Date', value }))).toStrictEqual(new Date(value))
    expect(codec.decode('{"$durably":"bigint","value":"-007"}')).toBe(-7n)
  })

  test.each<[string, string, string]>([
    ['arrays', '[', ']'],
    ['objects', '{"a":', '}'],
    ['Maps', '{"$durably":"Map","value":[[', ',1]]}'],
    ['Sets', '{"$durably":"Set","value":[', ']}'],
    ['objects with the tag as key', '{"$durably":"object","value":{"$durably":', '}}'],
  ])('%s that are nested without end are refused, whatever the stack', (_, open, close) => {
    const text = (levels: number) => `${open.repeat(levels)}{"$durably":"undefined"}${close.repeat(levels)}`
    expect(() => codec.decode(text(DEPTH_MAX - 1))).not.toThrow()
    expect(() => wireCodec().decode(text(DEPTH_MAX + 9))).not.toThrow()
    for (const levels of [DEPTH_MAX, 100_000]) expect(() => codec.decode(text(levels))).toThrow('nested too deep')
  })

  test('nested arrays without a tag are read, and cannot be written again', () => {
    const deep = codec.decode(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)
    expect(refusal(deep).code).toBe('value_not_serializable')
  })

  test('any JSON is read, or refused as a text that cannot be; what is read can be written (property)', () => {
    const { json } = fc.letrec<{ json: unknown }>((tie) => ({
      json: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<unknown>(null, true, 1, '', 'NaN', '-0', '12', '2026-01-02T03:04:05.678Z', 'AAAA', [], {}),
        fc.jsonValue(),
        fc.array(tie('json'), { maxLength: 3 }),
        fc.dictionary(anyText(), tie('json'), { maxKeys: 3, noNullPrototype: true }),
        fc.array(fc.tuple(tie('json'), tie('json')), { maxLength: 2 }),
        fc.record({ $durably: fc.oneof(fc.constantFrom('undefined', ...Object.keys(WRONG)), tie('json')), value: tie('json') }),
      ),
    }))
    fc.assert(
      fc.property(json, (value) => {
        let read: unknown
        try {
          read = codec.decode(JSON.stringify(value))
        } catch (error) {
          expect(error).toBeInstanceOf(SyntaxError)
          return
        }
        expect(roundTrip(read)).toStrictEqual(read)
      }),
      { numRuns: 2000 },
    )
  })
})

/** Text in UTF-16 units, so that lone surrogates and NUL occur. */
function anyText() {
  const unit = fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0, 0xd800, 0xdfff, 34, 92))
  return fc.oneof(
    fc.array(unit, { maxLength: 8 }).map((units) => String.fromCharCode(...units)),
    fc.constantFrom('$durably', 'value', 'Date'),
  )
}

function anyValue(): fc.Arbitrary<unknown> {
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      anyText(),
      fc.constantFrom<unknown>(null, undefined, true, false, -0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
      fc.double(),
      fc.integer(),
      fc.bigInt(),
      fc.date({ noInvalidDate: false }),
      fc.uint8Array({ maxLength: 20 }),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(anyText(), tie('value'), { maxKeys: 4, noNullPrototype: true }),
      fc.array(fc.tuple(tie('value'), tie('value')), { maxLength: 3 }).map((entries) => new Map(entries)),
      fc.array(tie('value'), { maxLength: 3 }).map((items) => new Set(items)),
    ),
  }))
  return value
}

function hasNegativeZero(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(hasNegativeZero)
  return Object.is(value, -0)
}
