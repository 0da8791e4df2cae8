// The options of a `durably trigger` that stores the same work once more, as they are typed.
import { isDeepStrictEqual } from 'node:util'
import type { Run } from '@coji/durably'
import { INPUT, LABELS } from './placeholders.ts'
import { shellWord } from './shell-word.ts'

/** What is longer is left to the reader. */
const CHARS_MAX = 200

type Work = Pick<Run, 'payload' | 'labels' | 'concurrencyKey' | 'idempotencyKey'>

export function triggerAgain({ payload, labels, concurrencyKey, idempotencyKey }: Work): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`)
  return [
    option('input', inputOf(payload)),
    ...(pairs.join().length > CHARS_MAX ? [LABELS] : pairs).map((pair) => option('label', pair)),
    ...(concurrencyKey === null ? [] : [option('concurrency-key', concurrencyKey)]),
    ...(idempotencyKey === null ? [] : [option('idempotency-key', idempotencyKey)]),
  ].join(' ')
}

/** A value that JSON would change, such as a date, is left to the reader, too. */
function inputOf(payload: unknown): string {
  const text = JSON.stringify(payload) ?? ''
  return text === '' || text.length > CHARS_MAX || !isDeepStrictEqual(JSON.parse(text), payload) ? INPUT : text
}

function option(name: string, value: string): string {
  return `--${name} ${shellWord(value)}`
}
