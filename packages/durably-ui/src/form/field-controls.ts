// The controls of a form field.
import { html, nothing, type TemplateResult } from 'lit'
import { jsonOf } from '../values/json-of.ts'
import type { FormField } from './form-field.ts'
import { controlName } from './read-input.ts'

/** `draft` is the JSON that a field for the whole input begins with. */
export function fieldControls(field: FormField, draft = ''): TemplateResult {
  if (field.kind === 'group') {
    const fields = field.fields.map((part) => fieldControls(part))
    return field.path.length === 0
      ? html`${fields}`
      : html`<fieldset><legend>${field.label}${optional(field)}</legend>${hint(field)}${fields}</fieldset>`
  }
  if (field.kind === 'yes or no')
    return html`<label class="option">
      <input type="checkbox" name=${controlName(field)} value="true" ?checked=${field.initial === true} />
      <span><b>${field.label}</b>${hint(field)}</span>
    </label>`
  const name = controlName(field)
  return html`<div class="field">
    <label for=${name}>${field.label}${optional(field)}</label>
    ${control(field, draft)}
    <span id=${`${name}-hint`} class="hint">${field.description}</span>
  </div>`
}

function control(field: Exclude<FormField, { kind: 'group' | 'yes or no' }>, draft: string): TemplateResult {
  const name = controlName(field)
  const hintId = `${name}-hint`
  const text = initialText(field, draft)
  switch (field.kind) {
    case 'text':
      return field.isLong
        ? html`<textarea id=${name} name=${name} aria-describedby=${hintId} rows="4" .value=${text}></textarea>`
        : html`<input id=${name} name=${name} aria-describedby=${hintId} maxlength=${field.maxLength ?? nothing} .value=${text} />`
    case 'number':
      return html`<input
        id=${name}
        name=${name}
        aria-describedby=${hintId}
        inputmode=${field.isWhole ? 'numeric' : 'decimal'}
        .value=${text}
      />`
    case 'choice':
      return html`<select id=${name} name=${name} aria-describedby=${hintId}>
        ${field.isRequired ? nothing : html`<option value=""></option>`}
        ${field.choices.map((choice, i) => html`<option value=${i} ?selected=${choice === field.initial}>${String(choice)}</option>`)}
      </select>`
    case 'json':
      return html`<textarea
        id=${name}
        name=${name}
        aria-describedby=${hintId}
        rows=${field.path.length === 0 ? 8 : 3}
        class="mono"
        placeholder="JSON"
        spellcheck="false"
        .value=${text}
      ></textarea>`
  }
}

function initialText(field: FormField, draft: string): string {
  if (field.kind === 'json') return field.initial === undefined ? draft : jsonOf(field.initial)
  return field.initial === undefined || field.initial === null ? '' : String(field.initial)
}

function optional({ isRequired }: FormField): TemplateResult | typeof nothing {
  return isRequired ? nothing : html` <span class="hint">optional</span>`
}

function hint({ description }: FormField): TemplateResult | typeof nothing {
  return description ? html`<span class="hint">${description}</span>` : nothing
}
