// Labels over HTTP: given in the options of a trigger, and asked for as `label.<name>=<value>`.
import { expect, test } from 'vitest'
import type { Run } from '../../src/index.ts'
import { asRun, refused, served } from './world.ts'

const triggered = (labels: unknown) => ({ body: { job: 'greet', input: { to: 'x' }, options: { labels } } })

test('a trigger takes labels, and lists go by them', async () => {
  const { call } = await served('memory', { principal: (request) => request.headers.get('user') ?? '' })
  const both = asRun(await call('POST', '/runs', triggered({ tenant: 'a & b', kind: 'x' })))
  expect(both.labels).toEqual({ tenant: 'a & b', kind: 'x' })
  const one = asRun(await call('POST', '/runs', { ...triggered({ tenant: 'a & b' }), headers: { user: 'alice' } }))
  await call('POST', '/runs', triggered({ tenant: 'other' }))
  const batch = { body: { job: 'greet', batch: [{ payload: { to: 'x' }, options: { labels: { kind: 'batch' } } }] } }
  expect((await call('POST', '/runs', batch)).status).toBe(201)
  const ids = async (query: string) => ((await call('GET', `/runs?${query}`)).body as { runs: Run[] }).runs.map(({ id }) => id)
  expect(await ids('label.tenant=a%20%26%20b')).toEqual([one.id, both.id])
  expect(await ids('label.tenant=a+%26+b&label.kind=x&status=pending')).toEqual([both.id])
  expect(await ids('label.kind=batch')).toHaveLength(1)
  expect(await ids('label.kind=')).toEqual([])
  const page = (await call('GET', '/runs?label.tenant=a+%26+b&limit=1')).body as { nextCursor: string }
  expect(await ids(`label.tenant=a+%26+b&limit=1&cursor=${page.nextCursor}`)).toEqual([both.id])
})

test.each([
  ['label.tenant=a&label.tenant=b', 'label.tenant is given 2 times'],
  ['label.=x', 'a label cannot be named ""'],
  ['label.__proto__=x', 'a label cannot be named "__proto__"'],
  [`label.tenant=${'x'.repeat(257)}`, 'label "tenant" must be at most 256 characters'],
  ['label.tenant=%00', 'NUL'],
  [Array.from({ length: 17 }, (_, i) => `label.l${i}=x`).join('&'), 'labels must be at most 16, got 17'],
  ['labels=x', 'there is no parameter "labels"; did you mean "label.<name>"?'],
  ['label=x', 'there is no parameter "label"; did you mean "label.<name>"?'],
])('%s is refused before anything is read, in lists and streams', async (query, message) => {
  const { call } = await served('memory')
  for (const path of ['/runs', '/events'])
    expect(await call('GET', `${path}?${query}`)).toMatchObject(refused(400, 'invalid_argument', message))
})

test.each([[['acme']], [{ tenant: 1 }], ['acme'], [null], [{ tenant: new Date(1) }]])(
  'a trigger with the labels %j is refused',
  async (labels) => {
    const { call, durably, soon } = await served('memory')
    expect(await call('POST', '/runs', triggered(labels))).toMatchObject(refused(400, 'invalid_argument', 'label'))
    expect(await soon(durably.getRuns())).toEqual([])
  },
)
