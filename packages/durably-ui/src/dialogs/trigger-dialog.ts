// Triggers a job, with a form made of the schema of its input, or with JSON.
import type { ClientTriggerOptions } from '@coji/durably/client'
import { html, type TemplateResult } from 'lit'
import type { App } from '../app.ts'
import type { DashboardJob } from '../dashboard-options.ts'
import { fieldControls } from '../form/field-controls.ts'
import { type FormField, fieldOf } from '../form/form-field.ts'
import { readInput } from '../form/read-input.ts'
import { repeatedly } from '../state/clock.ts'
import { jsonOf } from '../values/json-of.ts'
import { define } from '../views/view.ts'
import { DialogView, entered } from './dialog-view.ts'

const LOOK_AGAIN_MS = 2000

class TriggerDialog extends DialogView {
  static override properties = { jobName: { attribute: false }, asJson: { state: true } }
  declare jobName: string | null
  declare private asJson: boolean
  #draft = ''
  readonly #closed = new AbortController()

  constructor() {
    super()
    this.asJson = false
  }

  /** A worker that brings the jobs may just be starting. */
  override connectedCallback(): void {
    super.connectedCallback()
    const look = async () => {
      await this.app.jobs.read()
      this.requestUpdate()
    }
    void look()
    void repeatedly(() => LOOK_AGAIN_MS, this.#closed.signal, look)
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.#closed.abort()
  }

  #job(): DashboardJob | undefined {
    const { jobs } = this.app.jobs
    return jobs.find(({ name }) => name === this.jobName) ?? jobs[0]
  }

  #field(): FormField {
    return fieldOf(this.asJson ? null : this.#job()?.inputSchema)
  }

  protected override heading(): string {
    return 'Trigger a job'
  }

  protected override body(): TemplateResult {
    const { jobs } = this.app.jobs
    const job = this.#job()
    if (!job) return html`<p>The server lists no jobs that can be triggered yet.${this.app.jobs.error ? ` ${this.app.jobs.error}` : ''}</p>`
    const choose = (event: Event) => {
      this.jobName = (event.target as HTMLSelectElement).value
      this.#draft = ''
    }
    return html`<label>Job
        <select name="job" autofocus @change=${choose}>
          ${jobs.map(({ name }) => html`<option value=${name} ?selected=${name === job.name}>${name}</option>`)}
        </select>
      </label>
      ${fieldControls(this.#field(), this.#draft)}
      ${job.inputSchema ? html`<button type="button" class="quiet small" @click=${this.#switch}>${this.asJson ? 'Use the form' : 'Enter JSON instead'}</button>` : ''}
      <details>
        <summary>Options</summary>
        <label>Delay<input name="delay" placeholder="10s, 5m, 1h" /></label>
        <label>Concurrency key<input name="concurrencyKey" /></label>
        <label>Idempotency key<input name="idempotencyKey" /></label>
        <label>Labels<input name="labels" placeholder="tenant=acme kind=nightly" /></label>
      </details>`
  }

  /** What was entered in the form becomes JSON; the other way it is entered anew. */
  #switch(): void {
    const form = this.querySelector('form')
    const read = form && !this.asJson ? readInput(this.#field(), textsOf(new FormData(form))) : { value: undefined }
    this.#draft = 'value' in read && read.value !== undefined ? jsonOf(read.value) : ''
    this.asJson = !this.asJson
  }

  protected override footer(): TemplateResult {
    return html`<button type="button" class="quiet" @click=${() => this.closeDialog()}>Leave it</button>
      <button class="primary" ?disabled=${this.isBusy || !this.#job()}>Trigger</button>`
  }

  protected override async act(form: FormData): Promise<string> {
    const read = readInput(this.#field(), textsOf(form))
    if ('problem' in read) throw new Error(read.problem)
    const run = await this.app.client.trigger(entered(form, 'job'), read.value, optionsOf(form))
    this.app.go({ page: 'run', id: run.id })
    return `Triggered ${run.jobName}.`
  }
}

function textsOf(form: FormData): Map<string, string> {
  return new Map(Array.from(form).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : [])))
}

function optionsOf(form: FormData): ClientTriggerOptions {
  const delay = entered(form, 'delay').trim()
  const concurrencyKey = entered(form, 'concurrencyKey')
  const idempotencyKey = entered(form, 'idempotencyKey')
  const labels = labelsOf(entered(form, 'labels'))
  return {
    // The server checks its form, and names what is wrong with it.
    ...(delay && { delay: delay as NonNullable<ClientTriggerOptions['delay']> }),
    ...(concurrencyKey && { concurrencyKey }),
    ...(idempotencyKey && { idempotencyKey }),
    ...(Object.keys(labels).length > 0 && { labels }),
  }
}

function labelsOf(text: string): Record<string, string> {
  return Object.fromEntries(
    text
      .split(/\s+/)
      .filter(Boolean)
      .map((word) => {
        const [, name, value] = /^([^=]+)=(.*)$/s.exec(word) ?? []
        if (name === undefined || value === undefined) throw new Error(`Labels are written name=value, separated by spaces; got “${word}”.`)
        return [name, value]
      }),
  )
}

define('durably-trigger-dialog', TriggerDialog)

export function triggerDialog(app: App, jobName: string | null): TemplateResult {
  return html`<durably-trigger-dialog .app=${app} .jobName=${jobName}></durably-trigger-dialog>`
}
