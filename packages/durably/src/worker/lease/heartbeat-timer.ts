// HeartbeatTimer — one timer for the heartbeats of all active executions. Most runs end before theirs is due.
import { Alarm } from '../../model/alarm.ts'
import type { Env } from '../../model/env.ts'
import type { Heartbeat } from './heartbeat.ts'

export class HeartbeatTimer {
  readonly #alarm: Alarm

  constructor(env: Env, active: () => Iterable<{ heartbeat: Heartbeat }>) {
    this.#alarm = new Alarm(env, () => {
      for (const { heartbeat } of active()) heartbeat.beatIfDue()
    })
  }

  /** Asks each heartbeat at this time, or before, whether it is due. */
  by(at: number): void {
    this.#alarm.setAtMost(at)
  }

  rest(): void {
    this.#alarm.clear()
  }
}
