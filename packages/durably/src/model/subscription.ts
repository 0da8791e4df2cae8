// Subscription — which events a job gets. It is data, so that a process without the code of the job can deliver them.
import { DurablyError } from './errors.ts'
import { checkName } from './name.ts'

/** What the data of an event must contain: the same values under the same keys, at any depth. Other keys of the data do not matter. */
export interface EventFilter {
  /** A value that must be equal, or what an object must contain. */
  readonly [key: string]: string | number | boolean | null | EventFilter
}

/** The events that a job gets: those of this name, or those of them that match. */
export interface EventSubscription {
  /** The name of the event, as it is given to `durably.send`. */
  event: string
  /** What the data must contain. Default: anything. */
  filter?: EventFilter
}

/** The option `on` of a job: the name of an event, an event with a filter, or several of them. */
export type On = string | EventSubscription | readonly (string | EventSubscription)[]

/** In their one form, checked. */
export function subscriptionsOf(what: string, on: On): EventSubscription[] {
  return [on].flat().map((one: string | EventSubscription) => {
    const { event, filter = {}, ...rest } = typeof one === 'string' ? { event: one } : { ...one }
    checkName(`the event in ${what}`, event)
    if (!isFilter(filter) || Object.keys(rest)[0])
      throw new DurablyError(
        'invalid_argument',
        `${what} must be the name of an event, or { event, filter: { key: value } } with plain values`,
      )
    return { event, filter }
  })
}

function isFilter(value: unknown): boolean {
  return value === Object(value) && Object.getPrototypeOf(value) === Object.prototype && Object.values(value as object).every(isWanted)
}

function isWanted(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value) || isFilter(value)
}
