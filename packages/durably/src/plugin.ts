// Plugin — extends an instance from outside: listens to its events, and wraps its triggers, runs and steps.
import type { Durably } from './durably.ts'
import type { Emitter } from './events/emitter.ts'
import type { LogLine } from './events/log-line.ts'
import type { DurablyEvent } from './model/event.ts'
import type { TriggerWrapper } from './runs/trigger-wrapper.ts'
import type { RunWrapper } from './worker/run-wrapper.ts'
import type { StepWrapper } from './worker/steps/step-wrapper.ts'

/** Extends an instance from outside; install it with `durably.use(plugin)`. */
export interface Plugin {
  /** The name of the plugin, for people. */
  name: string
  /** Called once by `use()`, with what the plugin may do, and with the instance, for example to ask for its `health()`. */
  install(host: PluginHost, durably: Durably): void
}

/** What a plugin may do with the instance. */
export interface PluginHost {
  /** Listens to events, like `durably.on`. */
  on: Emitter['on']
  /** Gets the errors of listeners, like `durably.onError`. */
  onError: Emitter['onError']
  /** Puts a function around every step function. The wrapper that was registered first is the outermost. */
  wrapStep(wrapper: StepWrapper): void
  /** Puts a function around every execution of a run. */
  wrapRun(wrapper: RunWrapper): void
  /** Puts a function around the storing of new runs, by `trigger` and by jobs. Runs of schedules and of events do not pass it. */
  wrapTrigger(wrapper: TriggerWrapper): void
  /** Stores a line about the event in the `logs` table: with the next write of the run, or soon if it has none. */
  persistEvent(event: DurablyEvent, line: LogLine): void
}
