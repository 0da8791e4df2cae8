// FormField — what a form asks for, made of the JSON Schema of a job's input. Whatever a schema says that no simple field can ask for becomes
// a field for JSON, so that every input can be entered; the server checks it against the real schema.

export type FormField = FieldBase &
  (
    | { readonly kind: 'text'; readonly isLong: boolean; readonly maxLength: number | null }
    | { readonly kind: 'number'; readonly isWhole: boolean; readonly min: number | null; readonly max: number | null }
    | { readonly kind: 'yes or no' }
    | { readonly kind: 'choice'; readonly choices: readonly (string | number | boolean | null)[] }
    | { readonly kind: 'group'; readonly fields: readonly FormField[] }
    | { readonly kind: 'json' }
  )

interface FieldBase {
  /** Where the value is in the input; empty for the input itself. */
  readonly path: readonly string[]
  readonly label: string
  readonly description: string
  readonly isRequired: boolean
  readonly initial: unknown
}

type Schema = Readonly<Record<string, unknown>>

const DEPTH_MAX = 3
const LONG_TEXT = 200

/** A job without a schema takes JSON. */
export function fieldOf(schema: Schema | null | undefined, path: readonly string[] = [], isRequired = true): FormField {
  const { title, description, default: initial } = schema ?? {}
  const base = {
    path,
    label: typeof title === 'string' ? title : (path.at(-1) ?? 'Input'),
    description: typeof description === 'string' ? description : '',
    isRequired,
    initial,
  }
  if (!schema) return { ...base, kind: 'json' }
  const choices = choicesOf(schema)
  if (choices) return { ...base, kind: 'choice', choices }
  switch (schema.type) {
    case 'string': {
      const maxLength = numberOrNull(schema.maxLength)
      return { ...base, kind: 'text', isLong: maxLength !== null && maxLength > LONG_TEXT, maxLength }
    }
    case 'number':
    case 'integer':
      return {
        ...base,
        kind: 'number',
        isWhole: schema.type === 'integer',
        min: numberOrNull(schema.minimum),
        max: numberOrNull(schema.maximum),
      }
    case 'boolean':
      return { ...base, kind: 'yes or no' }
    case 'object':
      return groupOf(schema, base)
    default:
      return { ...base, kind: 'json' }
  }
}

function groupOf(schema: Schema, base: FieldBase): FormField {
  const { properties, required } = schema
  if (!isSchema(properties) || Object.keys(properties).length === 0 || base.path.length >= DEPTH_MAX) return { ...base, kind: 'json' }
  const fields = Object.entries(properties).map(([name, property]) =>
    fieldOf(isSchema(property) ? property : {}, [...base.path, name], Array.isArray(required) && required.includes(name)),
  )
  return { ...base, kind: 'group', fields }
}

function choicesOf(schema: Schema): readonly (string | number | boolean | null)[] | null {
  const values = 'const' in schema ? [schema.const] : schema.enum
  if (!Array.isArray(values) || values.length === 0) return null
  return values.every((value) => value === null || ['string', 'number', 'boolean'].includes(typeof value)) ? values : null
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}
