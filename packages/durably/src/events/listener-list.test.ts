import { expect, test } from 'vitest'
import { ListenerList } from './listener-list.ts'

const ignore = () => {}

test('a function that was added twice is called twice, and each removal removes one of them (L2)', () => {
  const list = new ListenerList<string>()
  const heard: string[] = []
  const listener = (event: string) => heard.push(event)
  const removals = [list.add(listener), list.add(listener)]
  list.call('a', ignore)
  removals[0]?.()
  removals[0]?.()
  list.call('b', ignore)
  expect(heard).toEqual(['a', 'a', 'b'])
  expect(list.size).toBe(1)
})

test('listeners that come or go during a call do not affect that call', () => {
  const list = new ListenerList<string>()
  const heard: string[] = []
  list.add((event) => {
    heard.push(`first ${event}`)
    removeSecond()
    list.add((event) => heard.push(`third ${event}`))
  })
  const removeSecond = list.add((event) => heard.push(`second ${event}`))
  list.call('a', ignore)
  expect(heard).toEqual(['first a', 'second a'])
})

test('an error, thrown or rejected, reaches onError with its event, and the others are called (L1)', async () => {
  const list = new ListenerList<string>()
  const heard: string[] = []
  const failed: unknown[] = []
  list.add(() => {
    throw 'thrown'
  })
  list.add(() => Promise.reject('rejected'))
  list.add((event) => heard.push(event))
  list.call('a', (error, event) => failed.push([error, event]))
  await Promise.resolve()
  expect(heard).toEqual(['a'])
  expect(failed).toEqual([
    ['thrown', 'a'],
    ['rejected', 'a'],
  ])
})
