import { expect, test } from 'vitest'
import { parseSearch } from './parse-search.ts'

const JOBS = ['import-csv', 'import-json', 'email:send', 'my job']
const conditions = (text: string) => parseSearch(text, JOBS).conditions

test('the id of a run, in any case and with spaces around it', () => {
  expect(parseSearch('  01arz3ndektsv4rrffq69g5fav ', JOBS).runId).toBe('01ARZ3NDEKTSV4RRFFQ69G5FAV')
})

test('a part of a name is all known jobs with it; another word is the name of a job', () => {
  expect(conditions('IMPORT')).toEqual({ jobName: ['import-csv', 'import-json'] })
  expect(conditions('email:send')).toEqual({ jobName: ['email:send'] })
  expect(conditions('"my job"')).toEqual({ jobName: ['my job'] })
  expect(conditions('gone')).toEqual({ jobName: 'gone' })
})

test('fields and labels, several at once, with quotes around spaces', () => {
  expect(conditions('key:"a b" parent:01X tenant=acme kind="night run"')).toEqual({
    concurrencyKey: 'a b',
    parentRunId: '01X',
    labels: { tenant: 'acme', kind: 'night run' },
  })
})

test('what is not a field is named, with those that are', () => {
  expect(parseSearch('stat:failed', []).problem).toContain('“stat:” is not a field. Use job:, key:')
  expect(parseSearch('key:', []).problem).toBe('“key:” needs a value, such as key:abc.')
})

test('a word that is in too many names is refused, with the number', () => {
  const many = Array.from({ length: 30 }, (_, i) => `job-${i}`)
  expect(parseSearch('job-', many).problem).toContain('is in the names of 30 jobs')
})

test('nothing is no condition', () => {
  expect(parseSearch('   ', JOBS)).toEqual({ runId: null, conditions: {}, problem: null })
})
