import { expect, test } from 'vitest'
import { virtualEnv } from '../testing/virtual-env.ts'
import { Alarm } from './alarm.ts'

function setup() {
  const virtual = virtualEnv()
  let timersSet = 0
  const env = {
    ...virtual,
    timer(ms: number, fn: () => void) {
      timersSet++
      return virtual.timer(ms, fn)
    },
  }
  const rung: number[] = []
  const alarm = new Alarm(env, () => rung.push(env.mono()))
  return { env, alarm, rung, timersSet: () => timersSet }
}

test('put off again and again, it sets one timer, and another one for the rest', async () => {
  const { env, alarm, rung, timersSet } = setup()
  alarm.set(100)
  for (let at = 101.5; at < 150; at++) alarm.set(at)
  alarm.set(149.5)
  expect(timersSet()).toBe(1)
  await env.advance(149)
  expect(rung).toEqual([])
  await env.advance(10)
  expect(rung).toEqual([150])
  expect(timersSet()).toBe(2)
  expect(env.nextInMs()).toBeNull()
})

test('brought forward, it rings then and only then', async () => {
  const { env, alarm, rung } = setup()
  alarm.set(100)
  alarm.setAtMost(200)
  alarm.setAtMost(30)
  await env.advance(500)
  expect(rung).toEqual([30])
})

test('the same time again sets no timer', () => {
  const { alarm, timersSet } = setup()
  for (let i = 0; i < 3; i++) alarm.set(99.3)
  expect(timersSet()).toBe(1)
})

test('never, or cleared, it does not ring', async () => {
  const { env, alarm, rung } = setup()
  alarm.set(100)
  alarm.set(Number.POSITIVE_INFINITY)
  await env.advance(500)
  alarm.set(600)
  alarm.clear()
  expect(env.nextInMs()).toBeNull()
  await env.advance(500)
  expect(rung).toEqual([])
})
