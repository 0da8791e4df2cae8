// A page of another site, in the browser of someone who is logged in here, changes nothing.
import { expect, test } from 'vitest'
import { ORIGIN, reach, refused, served } from './world.ts'

const EVIL = 'https://evil.test'
const FRIEND = 'https://app.friend.test'

const REFUSED: Record<string, string>[] = [
  { Origin: EVIL },
  { Origin: 'null' },
  { Origin: 'http://durably.test:8080' },
  { Origin: 'no origin' },
  { 'Sec-Fetch-Site': 'cross-site', Origin: EVIL },
  { 'Sec-Fetch-Site': 'same-site', Origin: 'http://other.durably.test' },
  { 'Sec-Fetch-Site': 'cross-site' },
  { 'Sec-Fetch-Site': 'cross-site', Origin: ORIGIN },
]
const ACCEPTED: Record<string, string>[] = [
  {},
  { Origin: ORIGIN },
  { Origin: 'https://durably.test' },
  { Origin: FRIEND },
  { 'Sec-Fetch-Site': 'same-origin', Origin: EVIL },
  { 'Sec-Fetch-Site': 'none' },
  { 'Sec-Fetch-Site': 'cross-site', Origin: FRIEND },
]

const UNSAFE: [string, string, object?][] = [
  ['POST', '/runs', { job: 'greet', input: { to: 1 } }],
  ['POST', '/runs/:id/cancel'],
  ['POST', '/runs/:id/retry'],
  ['POST', '/runs/:id/signals/s', { value: 1 }],
  ['POST', '/runs/:id/decisions/s', { decision: { done: 1 } }],
  ['DELETE', '/runs/:id'],
]

test.each(REFUSED)('refused: %j', async (headers) => {
  const { durably, job } = await served('memory')
  let asked = 0
  const { call } = reach(durably, { allowedOrigins: [`${FRIEND}/`], authorize: () => Boolean(++asked) })
  const { id } = await job.trigger({ to: 1 })
  for (const [method, path, body] of UNSAFE)
    expect(await call(method, path.replace(':id', id), { body, headers }), path).toMatchObject(refused(403, 'cross_site'))
  expect(asked).toBe(0)
  expect(await durably.getRuns()).toMatchObject([{ id, status: 'pending' }])
  expect(await call('GET', `/runs/${id}`, { headers })).toMatchObject({ status: 200 })
})

test.each(ACCEPTED)('accepted: %j', async (headers) => {
  const { call } = await served('memory', { allowedOrigins: [FRIEND] })
  expect(await call('POST', '/runs', { body: { job: 'greet', input: { to: 1 } }, headers })).toMatchObject({ status: 201 })
})
