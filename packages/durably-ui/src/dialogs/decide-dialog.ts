// Says what became of a step that must not run twice, after its worker was lost.
import type { Decision, Run } from '@coji/durably/client'
import { html, type TemplateResult } from 'lit'
import type { App } from '../app.ts'
import { define } from '../views/view.ts'
import { runName } from '../words/run-name.ts'
import { DialogView, entered, enteredJson } from './dialog-view.ts'

type Choice = 'done' | 'run again' | 'failed'

class DecideDialog extends DialogView {
  static override properties = {
    run: { attribute: false },
    step: { attribute: false },
    acted: { attribute: false },
    choice: { state: true },
  }
  declare run: Pick<Run, 'id' | 'jobName'>
  declare step: string
  declare acted: () => void
  declare private choice: Choice

  constructor() {
    super()
    this.choice = 'done'
  }

  protected override heading(): string {
    return `What became of “${this.step}” of ${runName(this.run)}?`
  }

  protected override body(): TemplateResult {
    return html`<p>Its worker was lost while its function was at work. It may have taken place.</p>
      ${this.#option('done', 'It took place', 'The run goes on with this result.')}
      ${this.choice === 'done' ? html`<label>Result, as JSON<textarea name="result" rows="3" class="mono"></textarea></label>` : ''}
      ${this.#option('run again', 'It did not take place', 'The step is executed now.')}
      ${this.#option('failed', 'It failed', 'The job gets an error with this message.')}
      ${this.choice === 'failed' ? html`<label>Message<input name="message" required /></label>` : ''}`
  }

  #option(value: Choice, label: string, meaning: string): TemplateResult {
    return html`<label class="option">
      <input type="radio" name="choice" value=${value} ?checked=${this.choice === value} @change=${() => (this.choice = value)} />
      <span><b>${label}</b><span class="hint">${meaning}</span></span>
    </label>`
  }

  protected override footer(): TemplateResult {
    return html`<button type="button" class="quiet" @click=${() => this.closeDialog()}>Leave it</button>
      <button class="primary" ?disabled=${this.isBusy}>Decide</button>`
  }

  protected override async act(form: FormData): Promise<string> {
    await this.app.client.decide(this.run.id, this.step, this.#decision(form))
    this.acted()
    return `Decided: ${runName(this.run)} goes on.`
  }

  #decision(form: FormData): Decision {
    if (this.choice === 'run again') return 'run again'
    if (this.choice === 'failed') return { failed: entered(form, 'message') }
    return { done: enteredJson(form, 'result', 'The result') }
  }
}

define('durably-decide-dialog', DecideDialog)

export function decideDialog(app: App, run: Pick<Run, 'id' | 'jobName'>, step: string, acted: () => void): TemplateResult {
  return html`<durably-decide-dialog .app=${app} .run=${run} .step=${step} .acted=${acted}></durably-decide-dialog>`
}
