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
  return html`<label><span>${field.label}${optional(field)}</span>${control(field, draft)}${hint(field)}</label>`
}

function control(field: Exclude<FormField, { kind: 'group' | 'yes or no' }>, draft: string): TemplateResult {
  const name = controlName(field)
  const text = initialText(field, draft)
  switch (field.kind) {
    case 'text':
      return field.isLong
        ? html`<textarea name=${name} rows="4" .value=${text}></textarea>`
        : html`<input name=${name} maxlength=${field.maxLength ?? nothing} .value=${text} />`
    case 'number':
      return html`<input name=${name} inputmode=${field.isWhole ? 'numeric' : 'decimal'} .value=${text} />`
    case 'choice':
      return html`<select name=${name}>
        ${field.isRequired ? nothing : html`<option value=""></option>`}
        ${field.choices.map((choice, i) => html`<option value=${i} ?selected=${choice === field.initial}>${String(choice)}</option>`)}
      </select>`
    case 'json':
      return html`<textarea name=${name} rows=${field.path.length === 0 ? 8 : 3} class="mono" placeholder="JSON" spellcheck="false" .value=${text}></textarea>`
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
