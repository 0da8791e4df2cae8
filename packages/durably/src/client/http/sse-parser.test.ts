import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type SseMessage, SseParser } from './sse-parser.ts'

function parse(...pieces: string[]): SseMessage[] {
  const parser = new SseParser()
  return pieces.flatMap((piece) => parser.push(piece))
}

describe('SseParser', () => {
  test('a message is data and a name, ended by an empty line', () => {
    expect(parse('data: one\n\nevent: done\ndata: two\n\n')).toEqual([
      { event: 'message', data: 'one' },
      { event: 'done', data: 'two' },
    ])
  })

  test('a name counts for one message only, and a message without data is none', () => {
    expect(parse('event: a\n\ndata: x\n\n')).toEqual([{ event: 'message', data: 'x' }])
  })

  test('one space after the colon is skipped, and only one; a colon is not needed', () => {
    expect(parse('data:a\ndata:  b\ndata\n\n')).toEqual([{ event: 'message', data: 'a\n b\n' }])
  })

  test('comments, ids and unknown fields are skipped', () => {
    expect(parse(': \n\n:data: no\nid: 7\nnothing: here\nData: no\ndata: yes: it is\n\n')).toEqual([
      { event: 'message', data: 'yes: it is' },
    ])
  })

  test('a message whose end did not come is none', () => {
    expect(parse('data: whole\n\ndata: half\n')).toEqual([{ event: 'message', data: 'whole' }])
    expect(parse('data: half')).toEqual([])
  })

  test('the server says how soon to come back, in digits', () => {
    const parser = new SseParser()
    parser.push('retry: soon\n')
    expect(parser.retryMs).toBe(0)
    parser.push('retry: 15')
    parser.push('00\n')
    expect(parser.retryMs).toBe(1500)
  })

  test('a CRLF that is cut in two is one line end', () => {
    expect(parse('data: a\r', '\ndata: b\r', '\n\r', '\n')).toEqual([{ event: 'message', data: 'a\nb' }])
    expect(parse('data: a\r', '', '\n\r\ndata: b\r\r')).toEqual([
      { event: 'message', data: 'a' },
      { event: 'message', data: 'b' },
    ])
  })

  test('ten million characters in small pieces take no longer than their length', () => {
    const parser = new SseParser()
    parser.push('data: ')
    for (let i = 0; i < 10_000; i++) expect(parser.push('x'.repeat(1000))).toEqual([])
    const [message] = parser.push('\n\n')
    expect(message?.data.length).toBe(10_000_000)
  })

  test('however it is cut and whatever its line ends are, the messages are the same', () => {
    const line = fc.string({ unit: fc.constantFrom('a', ':', ' ', 'ß', '日', '👩'), maxLength: 6 })
    const message = fc.record({ event: fc.constantFrom('message', 'done', 'gone'), lines: fc.array(line, { minLength: 1, maxLength: 3 }) })
    const end = fc.constantFrom('\n', '\r', '\r\n')
    const noise = fc.constantFrom([], [': '], ['id: 5'], ['retry: 10'])
    fc.assert(
      fc.property(fc.array(fc.record({ message, end, noise })), fc.infiniteStream(fc.integer({ min: 1, max: 7 })), (said, sizes) => {
        const text = said
          .map(({ message: { event, lines }, end, noise }) =>
            [...noise, `event:${event}`, ...lines.map((one) => `data: ${one}`), '', ''].join(end),
          )
          .join('')
        const pieces: string[] = []
        for (let at = 0; at < text.length; ) {
          const { value: size } = sizes.next()
          pieces.push(text.slice(at, at + size))
          at += size
        }
        expect(parse(...pieces)).toEqual(parse(text))
        expect(parse(text)).toEqual(said.map(({ message: { event, lines } }) => ({ event, data: lines.join('\n') })))
      }),
      { numRuns: 300 },
    )
  })
})
