import { EVENT_TYPES } from '../model/event.ts'
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
      for (const type of EVENT_TYPES) host.on(type, (event) => host.persistEvent(event))
    },
  }
}
