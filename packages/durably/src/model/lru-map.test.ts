import { expect, test } from 'vitest'
import { LruMap } from './lru-map.ts'

function filled(max: number, ...keys: string[]) {
  const evicted: string[] = []
  const map = new LruMap<string, string>(max, (value) => evicted.push(value))
  for (const key of keys) map.set(key, key)
  return { map, evicted }
}

test('beyond its size the least recently used entry is evicted', () => {
  const { map, evicted } = filled(2, 'a', 'b')
  expect(map.get('a')).toBe('a')
  map.set('c', 'c')
  expect(evicted).toEqual(['b'])
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual(['a', undefined, 'c'])
})

test('an entry that is set again is as new, and evicts nothing', () => {
  const { map, evicted } = filled(2, 'a', 'b', 'a')
  expect(evicted).toEqual([])
  map.set('c', 'c')
  expect(evicted).toEqual(['b'])
})

test('clear evicts all of them, delete evicts nothing', () => {
  const { map, evicted } = filled(3, 'a', 'b', 'c')
  expect([map.delete('b'), map.delete('b')]).toEqual([true, false])
  map.clear()
  expect(evicted).toEqual(['a', 'c'])
  expect(map.get('a')).toBeUndefined()
})
