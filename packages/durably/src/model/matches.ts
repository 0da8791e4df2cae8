import type { EventFilter } from './subscription.ts'

/** Whether the data of an event contains what a filter asks for. */
export function matches(filter: EventFilter, data: unknown): boolean {
  if (data !== Object(data) || Array.isArray(data)) return Object.keys(filter).length === 0
  return Object.entries(filter).every(([key, wanted]) => {
    const found: unknown = Object.hasOwn(data as object, key) ? Reflect.get(data as object, key) : undefined
    return wanted === Object(wanted) ? found === Object(found) && matches(wanted as EventFilter, found) : found === wanted
  })
}
