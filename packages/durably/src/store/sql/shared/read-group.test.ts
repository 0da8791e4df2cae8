import { describe, expect, test } from 'vitest'
import { ReadGroup } from './read-group.ts'

/** Reads texts; each answer has two rows, and `bad` breaks the statement. */
function world() {
  const sent: string[][] = []
  const group = new ReadGroup<string>({
    textOf: (asked) => asked,
    async read(asked) {
      sent.push([...asked])
      await null
      if (asked.includes('bad')) throw new Error('broken')
      return asked.flatMap((text, i) => (text === 'empty' ? [] : [1, 2].map((n) => ({ place: i + 1, value: `${text} ${n}` }))))
    },
  })
  const read = async (asked: string) => (await group.rows(asked)).map(({ value }) => value)
  return { sent, read, group }
}

describe('ReadGroup', () => {
  test('reads of one turn are one statement, and each gets its own rows', async () => {
    const { sent, read } = world()
    expect(await Promise.all(['a', 'empty', 'b'].map(read))).toEqual([['a 1', 'a 2'], [], ['b 1', 'b 2']])
    expect(await read('c')).toEqual(['c 1', 'c 2'])
    expect(sent).toEqual([['a', 'empty', 'b'], ['c']])
  })

  test('equal reads are sent once, and each is answered', async () => {
    const { sent, read } = world()
    expect(await Promise.all(['a', 'b', 'a', 'a'].map(read))).toEqual(['a', 'b', 'a', 'a'].map((text) => [`${text} 1`, `${text} 2`]))
    expect(sent).toEqual([['a', 'b']])
  })

  test('a read does not join an equal one that was sent already: there may be something new since', async () => {
    const { sent, read } = world()
    const first = read('a')
    await null
    await null
    const second = read('a')
    await Promise.all([first, second])
    expect(sent).toEqual([['a'], ['a']])
  })

  test('a statement has no more than fifty reads, and none is lost', async () => {
    const { sent, read } = world()
    const texts = Array.from({ length: 120 }, (_, i) => `${i}`)
    expect(await Promise.all(texts.map(read))).toEqual(texts.map((text) => [`${text} 1`, `${text} 2`]))
    expect(sent.map(({ length }) => length)).toEqual([50, 50, 20])
  })

  test('a statement that fails fails for all of its reads, and for no other', async () => {
    const { read } = world()
    const answers = await Promise.allSettled(['a', 'bad'].map(read))
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await read('a')).toEqual(['a 1', 'a 2'])
  })
})
