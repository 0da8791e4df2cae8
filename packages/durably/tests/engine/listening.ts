import type { Durably } from '../../src/durably.ts'
import { type DurablyEvent, EVENT_TYPES, type EventOf, type EventType } from '../../src/model/event.ts'

/** Everything the instance tells, in the order it tells it. */
export function listenTo(durably: Pick<Durably, 'on'>): DurablyEvent[] {
  const heard: DurablyEvent[] = []
  for (const type of EVENT_TYPES) durably.on(type, (event) => void heard.push(event))
  return heard
}

export function ofType<T extends EventType>(events: readonly DurablyEvent[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type)
}

export function typesOf(events: readonly { type: EventType }[]): EventType[] {
  return events.map(({ type }) => type)
}

/** Resolves with the next event of a type. */
export function next<T extends EventType>(durably: Pick<Durably, 'on'>, type: T): Promise<EventOf<T>> {
  return new Promise((resolve) => {
    const off = durably.on(type, (event) => {
      off()
      resolve(event)
    })
  })
}
