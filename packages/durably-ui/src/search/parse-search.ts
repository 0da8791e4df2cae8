// What people type into the search field, as conditions that the store answers by an index. There is no search in texts: at a million runs
// it would read them all.
import type { RunConditions } from '@coji/durably/client'

export interface Search {
  /** The text is the id of a run. */
  readonly runId: string | null
  readonly conditions: RunConditions
  /** What cannot be understood, and what to write instead. */
  readonly problem: string | null
}

const RUN_ID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i
const WORD = /(?:[^\s"]|"[^"]*"?)+/g
const JOBS_MAX = 20

/** The fields that can be written before a colon. */
const SEARCH_FIELDS = {
  job: 'jobName',
  key: 'concurrencyKey',
  idempotency: 'idempotencyKey',
  parent: 'parentRunId',
  schedule: 'scheduleId',
} as const satisfies { [name: string]: keyof RunConditions }

export function parseSearch(text: string, jobNames: readonly string[]): Search {
  const trimmed = text.trim()
  if (RUN_ID.test(trimmed)) return { runId: trimmed.toUpperCase(), conditions: {}, problem: null }
  const conditions: Record<string, unknown> = {}
  const labels: Record<string, string> = {}
  const words = trimmed.match(WORD) ?? []
  for (const word of words) {
    const understood = understand(word, conditions, labels, jobNames)
    if (understood === undefined) conditions.jobName = unquoted(word)
    else if (understood !== null) return { runId: null, conditions: {}, problem: understood }
  }
  if (Object.keys(labels).length > 0) conditions.labels = labels
  return { runId: null, conditions, problem: null }
}

/** Undefined: it is something else. Null: it was understood. A text: what is wrong. */
type Understood = string | null | undefined

function understand(
  word: string,
  conditions: Record<string, unknown>,
  labels: Record<string, string>,
  jobNames: readonly string[],
): Understood {
  const asJobs = addJobs(conditions, word, jobNames)
  if (asJobs !== undefined) return asJobs
  const asField = addField(conditions, word)
  return asField === undefined ? addLabel(labels, word) : asField
}

/** A part of the name of a known job stands for all jobs that have it. */
function addJobs(conditions: Record<string, unknown>, word: string, jobNames: readonly string[]): Understood {
  const wanted = unquoted(word).toLowerCase()
  const found = jobNames.filter((name) => name.toLowerCase().includes(wanted))
  if (found.length === 0) return undefined
  if (found.length > JOBS_MAX)
    return `“${unquoted(word)}” is in the names of ${found.length} jobs; at most ${JOBS_MAX} can be searched at once. Write more of the name.`
  conditions.jobName = found
  return null
}

function addField(conditions: Record<string, unknown>, word: string): Understood {
  const [, name = '', value = ''] = /^([a-z]+):(.*)$/s.exec(word) ?? []
  if (name === '') return undefined
  const field = Object.hasOwn(SEARCH_FIELDS, name) ? SEARCH_FIELDS[name as keyof typeof SEARCH_FIELDS] : undefined
  const fields = Object.keys(SEARCH_FIELDS).map((known) => `${known}:`)
  if (!field) return `“${name}:” is not a field. Use ${fields.join(', ')}, a label such as tenant=acme, or the name of a job in quotes.`
  if (unquoted(value) === '') return `“${name}:” needs a value, such as ${name}:abc.`
  conditions[field] = unquoted(value)
  return null
}

function addLabel(labels: Record<string, string>, word: string): Understood {
  const [, name, value] = /^([A-Za-z0-9][\w./:-]*)=(.*)$/s.exec(word) ?? []
  if (name === undefined || value === undefined) return undefined
  labels[name] = unquoted(value)
  return null
}

function unquoted(text: string): string {
  return text.replaceAll('"', '')
}
