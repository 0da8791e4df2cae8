import { logLineOf } from '../events/log-line.ts'
import { type DurablyEvent, EVENT_TYPES } from '../model/event.ts'
import type { Plugin } from '../plugin.ts'

/**
 * Keeps every event and every log line in the `logs` table, for `getLogs` and dashboards.
 *
 * @example durably.use(withLogPersistence())
 */
export function withLogPersistence(): Plugin {
  return {
    name: 'log-persistence',
    install(host) {
      const persist = (event: DurablyEvent) => {
        const line = logLineOf(event)
        if (line) host.persistEvent(event, line)
      }
      for (const type of EVENT_TYPES) host.on(type, persist)
    },
  }
}
