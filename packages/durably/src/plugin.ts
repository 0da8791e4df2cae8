// Plugin — extends an instance from outside: listens to its events, stands around its steps.
import type { Emitter } from './events/emitter.ts'
import type { LogLine } from './events/log-line.ts'
import type { DurablyEvent } from './model/event.ts'
import type { StepWrapper } from './worker/steps/step-wrapper.ts'

export interface Plugin {
  name: string
  install(host: PluginHost): void
}

export interface PluginHost {
  on: Emitter['on']
  onError: Emitter['onError']
  /** Stands around every step function; the first registered is the outermost. */
  wrapStep(wrapper: StepWrapper): void
  /** Writes a line about the event into the `logs` table: with the run's next write, or soon if it has none. */
  persistEvent(event: DurablyEvent, line: LogLine): void
}
