// The schedules, with the next time of each.
import { html, nothing, type TemplateResult } from 'lit'
import type { ListedSchedule, ScheduleReader } from '../cluster-client.ts'
import { icon } from '../parts/icon.ts'
import { link } from '../parts/link.ts'
import { moment } from '../parts/moment.ts'
import { emptyNotice, errorNotice, loadingNotice } from '../parts/notice.ts'
import { ALL_RUNS } from '../route.ts'
import { errorText } from '../state/error-text.ts'
import { RepeatedRead } from '../state/repeated-read.ts'
import { durationInWords } from '../words/duration.ts'
import { define, FollowingView } from './view.ts'

const READ_AGAIN_MS = 5000

class SchedulesView extends FollowingView {
  static override properties = { schedules: { attribute: false } }
  declare schedules: ScheduleReader
  #read: RepeatedRead<readonly ListedSchedule[]> | null = null

  protected override key(): string {
    return ''
  }

  protected override begin(): void {
    this.#read = new RepeatedRead(
      () => this.schedules.list(),
      READ_AGAIN_MS,
      () => this.requestUpdate(),
    )
    void this.#read.start()
  }

  protected override end(): void {
    this.#read?.stop()
  }

  protected override render(): TemplateResult {
    const { answer, error } = this.#read ?? { answer: null, error: null }
    return html`<header class="page-head"><h1>Schedules</h1></header>
      ${errorNotice(error)} ${answer ? this.#list(answer) : error ? nothing : loadingNotice()}`
  }

  #list(schedules: readonly ListedSchedule[]): TemplateResult {
    if (schedules.length === 0) return emptyNotice('No schedules', 'A schedule lets a job run by itself.')
    return html`<ul class="jobs">${schedules.map((schedule) => this.#card(schedule))}</ul>`
  }

  #card({ id, jobName, cron, every, timezone, paused, nextAt, lastScheduledFor }: ListedSchedule): TemplateResult {
    const { pause, resume, trigger } = this.schedules
    return html`<li class="card">
      <header>
        <h2>${id}</h2>
        ${paused ? html`<span class="badge idle">${icon('pause')}Paused</span>` : nothing}
      </header>
      <dl class="figures">
        <div><dt>Next</dt><dd>${nextAt === null ? '–' : moment(nextAt, this.now)}</dd></div>
        <div><dt>When</dt><dd>${cron === null ? `every ${durationInWords(every ?? 0)}` : html`<code>${cron}</code> ${timezone}`}</dd></div>
        <div><dt>Last</dt><dd>${lastScheduledFor === null ? '–' : moment(lastScheduledFor, this.now)}</dd></div>
        <div><dt>Job</dt><dd>${link(this.app, { page: 'job', name: jobName }, jobName)}</dd></div>
      </dl>
      <div class="actions">
        ${link(this.app, { page: 'runs', query: { ...ALL_RUNS, search: `schedule:"${id}"` } }, 'Its runs', { class: 'button quiet small' })}
        ${trigger ? this.#button('Trigger now', () => trigger.call(this.schedules, id)) : nothing}
        ${paused && resume ? this.#button('Resume', () => resume.call(this.schedules, id)) : nothing}
        ${!paused && pause ? this.#button('Pause', () => pause.call(this.schedules, id)) : nothing}
      </div>
    </li>`
  }

  #button(label: string, act: () => Promise<unknown>): TemplateResult {
    const press = () =>
      act()
        .then(() => this.#read?.read())
        .catch((error) => this.app.say(errorText(error), 'bad'))
    return html`<button class="quiet small" @click=${press}>${label}</button>`
  }
}

define('durably-schedules-view', SchedulesView)
