// What can be done about a run in its present state. Each asks before it acts.
import type { Explanation, Run, WaitingFor } from '@coji/durably/client'
import { html, nothing, type TemplateResult } from 'lit'
import type { App } from '../app.ts'
import { confirmDialog } from '../dialogs/confirm-dialog.ts'
import { decideDialog } from '../dialogs/decide-dialog.ts'
import { signalDialog } from '../dialogs/signal-dialog.ts'
import { hasEnded } from '../state/watched-run.ts'
import { decideButton, runElsewhere, signalButton } from '../words/explanation.ts'
import { runName } from '../words/run-name.ts'
import { icon } from './icon.ts'

interface WhyNot {
  /** What it waits for. */
  waits: readonly WaitingFor[]
  explanation: Explanation | null
}

export function runActions(app: App, run: Run, { waits, explanation }: WhyNot, acted: () => void): TemplateResult {
  const decision = waits.find((wait) => wait.kind === 'decision')
  const signal = waits.find((wait) => wait.kind === 'signal')
  const elsewhere = explanation ? actionElsewhere(app, explanation, acted) : null
  const open = (dialog: TemplateResult) => () => app.open(dialog)
  return html`<div class="actions">
    ${elsewhere ?? nothing}
    ${
      decision
        ? html`<button class="primary" @click=${open(decideDialog(app, run, decision.step, acted))}>${icon('check')}Decide…</button>`
        : nothing
    }
    ${
      hasEnded(run) || (elsewhere && !signal)
        ? nothing
        : html`<button
            class=${signal ? 'primary' : 'quiet'}
            @click=${open(signalDialog(app, run, signal?.name ?? '', acted))}
          >
            ${icon('send')}Signal…
          </button>`
    }
    ${run.status === 'failed' ? html`<button class="primary" @click=${open(retryDialog(app, run, acted))}>${icon('retry')}Retry…</button>` : nothing}
    ${
      hasEnded(run)
        ? html`<button class="quiet danger" @click=${open(deleteDialog(app, run))}>${icon('trash')}Delete…</button>`
        : html`<button class="quiet danger" @click=${open(cancelDialog(app, run, acted))}>${icon('stop')}Cancel…</button>`
    }
  </div>`
}

/** What lets this run go on although it is done to another one, for which this one waits. */
function actionElsewhere(app: App, explanation: Explanation, acted: () => void): TemplateResult | null {
  const other = runElsewhere(explanation)
  const { remedy } = explanation
  if (!other) return null
  const run = { id: other.runId, jobName: other.jobName }
  const button = (label: unknown, dialog: TemplateResult) =>
    html`<button class="primary" @click=${() => app.open(dialog)}>${label}</button>`
  if (remedy.do === 'signal') return button([icon('send'), signalButton(other)], signalDialog(app, run, remedy.name, acted))
  if (remedy.do === 'decide') return button([icon('check'), decideButton(other)], decideDialog(app, run, remedy.step, acted))
  return null
}

function retryDialog(app: App, run: Run, acted: () => void): TemplateResult {
  return confirmDialog(app, {
    heading: `Retry ${runName(run)}?`,
    text: 'It goes on after its last recorded step. Steps that completed are not executed again.',
    button: 'Retry',
    act: async () => {
      await app.client.retry(run.id, { ifVersion: run.version })
      acted()
      return `${subjectOf(run)} is tried again.`
    },
  })
}

function cancelDialog(app: App, run: Run, acted: () => void): TemplateResult {
  return confirmDialog(app, {
    heading: `Cancel ${runName(run)}?`,
    text: 'It and the unfinished runs that it has triggered stop. What its steps have done stays done.',
    button: 'Cancel the run',
    isDangerous: true,
    act: async () => {
      const outcome = await app.client.cancel(run.id)
      acted()
      return `${subjectOf(run)} ${{ cancelled: 'was cancelled', requested: 'was asked to stop', refused: 'had already ended' }[outcome]}.`
    },
  })
}

function deleteDialog(app: App, run: Run): TemplateResult {
  return confirmDialog(app, {
    heading: `Delete ${runName(run)}?`,
    text: 'Its steps, logs, events and signals are deleted with it. This cannot be undone.',
    button: 'Delete',
    isDangerous: true,
    act: async () => {
      await app.client.deleteRun(run.id, { ifVersion: run.version })
      app.go(app.list())
      return `${subjectOf(run)} was deleted.`
    },
  })
}

/** At the beginning of a sentence. */
function subjectOf(run: Run): string {
  const name = runName(run)
  return name.charAt(0).toUpperCase() + name.slice(1)
}
