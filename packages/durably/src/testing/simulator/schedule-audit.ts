// ScheduleAudit — stands before the chapter of the cluster in a simulated world and checks each write to it, one at a time.
//   I40. A time of a schedule gets one run, also after that run was deleted.
//   I41. A firing takes effect only with the epoch of the leader, the version that its schedule has, and a time that has come.
//   I42. No epoch decreases: that of the leader grows with each change of the leader, that of a schedule and its last time never go back.
import type { ScheduleRow } from '../../model/schedule.ts'
import type { ClusterStore } from '../../store/cluster/cluster.ts'
import type { LeadOutcome, LeadRequest } from '../../store/cluster/leaders.ts'
import type { Firing } from '../../store/cluster/schedules.ts'
import type { Violation } from '../invariants/index.ts'
import { LeaderWatch } from './leader-watch.ts'

export class ScheduleAudit {
  readonly violations: Violation[] = []
  /** The times that got a run, by schedule. */
  readonly slots = new Map<string, Map<number, string>>()
  /** How many firings of a process that leads no more were refused. */
  refused = 0
  readonly leader = new LeaderWatch(this.violations)
  readonly #inner: ClusterStore
  readonly #storeMs: () => number
  /** As the last firing left them. */
  readonly #rows = new Map<string, ScheduleRow>()
  #turn: Promise<unknown> = Promise.resolve()

  constructor(inner: ClusterStore, storeMs: () => number) {
    this.#inner = inner
    this.#storeMs = storeMs
  }

  over(): ClusterStore {
    const inner = this.#inner
    return new Proxy(inner, {
      get: (_, verb) => {
        const invoke = Reflect.get(inner, verb) as (...args: unknown[]) => Promise<unknown>
        return (...args: unknown[]) => this.#alone(() => this.#watched(String(verb), args, () => invoke(...args)))
      },
    })
  }

  #alone<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(act)
    this.#turn = done.catch(() => {})
    return done
  }

  async #watched(verb: string, args: readonly unknown[], invoke: () => Promise<unknown>): Promise<unknown> {
    if (verb === 'lead') {
      const led = (await invoke()) as LeadOutcome
      this.leader.led(args[0] as LeadRequest, led)
      return led
    }
    if (verb !== 'fireSchedule') {
      if (verb !== 'findSchedules') this.#rows.clear()
      return invoke()
    }
    const firing = args[0] as Firing
    const { scheduleId } = firing
    const before = this.#rows.get(scheduleId) ?? (await this.#row(scheduleId))
    const nowMs = this.#storeMs()
    const answer = (await invoke()) as Awaited<ReturnType<ClusterStore['fireSchedule']>>
    if (answer.outcome === 'deposed') this.refused++
    const after = await this.#row(scheduleId)
    if (after) this.#rows.set(scheduleId, after)
    this.#fired(firing, before, after, nowMs)
    if (answer.outcome === 'fired') for (const run of answer.runs) this.#created(scheduleId, run.scheduledFor ?? Number.NaN, run.id)
    return answer
  }

  async #row(id: string): Promise<ScheduleRow | undefined> {
    return (await this.#inner.findSchedules({ id, limit: 1 })).schedules[0]
  }

  #fired(firing: Firing, before: ScheduleRow | undefined, after: ScheduleRow | undefined, nowMs: number): void {
    if (!before || !after || after.version === before.version) return
    const what = `a firing of ${firing.scheduleId} took effect`
    if (firing.epoch !== this.leader.epoch) this.#broken('I41', `${what} as epoch ${firing.epoch}, but epoch ${this.leader.epoch} leads`)
    if (firing.version !== before.version) this.#broken('I41', `${what} at version ${before.version}, but it had read ${firing.version}`)
    if (firing.lastScheduledFor > nowMs) this.#broken('I41', `${what} ${firing.lastScheduledFor - nowMs} ms before its time`)
    if (after.leaderEpoch < before.leaderEpoch) this.#broken('I42', `${firing.scheduleId} went back to epoch ${after.leaderEpoch}`)
    const kept = Math.max(firing.lastScheduledFor, before.lastScheduledFor ?? 0)
    if (after.lastScheduledFor !== kept) this.#broken('I42', `${firing.scheduleId} does not keep its last time`)
  }

  #created(scheduleId: string, slot: number, runId: string): void {
    const slots = this.slots.get(scheduleId) ?? new Map<number, string>()
    this.slots.set(scheduleId, slots)
    const known = slots.get(slot)
    if (known !== undefined && known !== runId) this.#broken('I40', `time ${slot} of ${scheduleId} got run ${runId} beside ${known}`)
    slots.set(slot, runId)
  }

  #broken(invariant: string, what: string): void {
    this.violations.push({ invariant, runId: null, what })
  }
}
