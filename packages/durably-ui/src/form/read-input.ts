// Reads an input from what was entered: a text per field, by the path of the field. A field that is not required and left empty is left out.
import type { FormField } from './form-field.ts'

export type Entered = ReadonlyMap<string, string>

export type ReadInput = { readonly value: unknown } | { readonly problem: string; readonly field: FormField }

/** The name of the control of a field. */
export function controlName({ path }: FormField): string {
  return `input/${path.map(encodeURIComponent).join('/')}`
}

export function readInput(field: FormField, entered: Entered): ReadInput {
  if (field.kind === 'group') return readGroup(field, entered)
  const text = entered.get(controlName(field)) ?? ''
  if (field.kind === 'yes or no') return { value: text === 'true' }
  if (text.trim() === '' && !(field.kind === 'text' && field.isRequired)) {
    return field.isRequired ? { problem: `${field.label} is required.`, field } : { value: undefined }
  }
  switch (field.kind) {
    case 'text':
      return { value: text }
    case 'choice':
      return { value: field.choices[Number(text)] }
    case 'number':
      return readNumber(field, text)
    case 'json':
      return readJson(field, text)
  }
}

function readGroup(field: FormField & { kind: 'group' }, entered: Entered): ReadInput {
  const entries: [string, unknown][] = []
  for (const part of field.fields) {
    const read = readInput(part, entered)
    if ('problem' in read) return field.isRequired || isTouched(field, entered) ? read : { value: undefined }
    if (read.value !== undefined) entries.push([part.path.at(-1) ?? '', read.value])
  }
  return { value: !field.isRequired && !isTouched(field, entered) ? undefined : Object.fromEntries(entries) }
}

function isTouched(field: FormField, entered: Entered): boolean {
  if (field.kind === 'group') return field.fields.some((part) => isTouched(part, entered))
  const text = entered.get(controlName(field)) ?? ''
  return text !== '' && text !== 'false'
}

function readNumber(field: FormField & { kind: 'number' }, text: string): ReadInput {
  const value = Number(text)
  const { label, isWhole, min, max } = field
  if (!Number.isFinite(value)) return { problem: `${label} must be a number, got “${text}”.`, field }
  if (isWhole && !Number.isSafeInteger(value)) return { problem: `${label} must be a whole number, got ${text}.`, field }
  if (min !== null && value < min) return { problem: `${label} must be at least ${min}, got ${text}.`, field }
  if (max !== null && value > max) return { problem: `${label} must be at most ${max}, got ${text}.`, field }
  return { value }
}

function readJson(field: FormField, text: string): ReadInput {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    return { problem: `${field.label} must be JSON: ${error instanceof Error ? error.message : error}.`, field }
  }
}
