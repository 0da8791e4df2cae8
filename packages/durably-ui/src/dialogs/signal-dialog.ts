// Sends a signal to a run.
import type { Run } from '@coji/durably/client'
import { html, type TemplateResult } from 'lit'
import type { App } from '../app.ts'
import { define } from '../views/view.ts'
import { runName } from '../words/run-name.ts'
import { DialogView, entered, enteredJson } from './dialog-view.ts'

class SignalDialog extends DialogView {
  static override properties = { run: { attribute: false }, name: { attribute: false }, acted: { attribute: false } }
  declare run: Pick<Run, 'id' | 'jobName'>
  /** The signal that the run waits for; empty if it waits for none. */
  declare name: string
  declare acted: () => void

  protected override heading(): string {
    return `Send a signal to ${runName(this.run)}`
  }

  protected override body(): TemplateResult {
    return html`<label>Name<input name="name" required .value=${this.name} ?autofocus=${this.name === ''} /></label>
      <label>Value, as JSON<textarea name="value" rows="5" class="mono" placeholder='{ "approved": true }' ?autofocus=${this.name !== ''}></textarea></label>
      <p class="hint">A run that does not wait for it yet gets it later. The first signal of a name counts.</p>`
  }

  protected override footer(): TemplateResult {
    return html`<button type="button" class="quiet" @click=${() => this.closeDialog()}>Leave it</button>
      <button class="primary" ?disabled=${this.isBusy}>Send</button>`
  }

  protected override async act(form: FormData): Promise<string> {
    const name = entered(form, 'name')
    await this.app.client.signal(this.run.id, name, enteredJson(form, 'value', 'The value'))
    this.acted()
    return `The signal “${name}” was sent to ${runName(this.run)}.`
  }
}

define('durably-signal-dialog', SignalDialog)

export function signalDialog(app: App, run: Pick<Run, 'id' | 'jobName'>, name: string, acted: () => void): TemplateResult {
  return html`<durably-signal-dialog .app=${app} .run=${run} .name=${name} .acted=${acted}></durably-signal-dialog>`
}
