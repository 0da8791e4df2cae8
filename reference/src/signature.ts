// Functions and their parameters as TypeScript.
import type { DeclarationReflection, SignatureReflection } from 'typedoc'

export function signatures(symbol: DeclarationReflection): string[] {
  const own = symbol.signatures ?? (symbol.type?.type === 'reflection' ? symbol.type.declaration.signatures : undefined) ?? []
  return own.map((signature) => `${symbol.name}${symbol.flags.isOptional ? '?' : ''}${call(signature)}: ${signature.type}`)
}

export const arrow = (signature: SignatureReflection): string => `${call(signature)} => ${signature.type}`

function call(signature: SignatureReflection): string {
  const parameters = (signature.parameters ?? []).map(
    ({ name, type, flags, defaultValue }) =>
      `${flags.isRest ? '...' : ''}${name === '__namedParameters' ? 'options' : name}${flags.isOptional || defaultValue ? '?' : ''}: ${type}`,
  )
  return `${typeParameters(signature)}(${parameters.join(', ')})`
}

export function typeParameters({ typeParameters = [] }: DeclarationReflection | SignatureReflection): string {
  return typeParameters.length === 0 ? '' : `<${typeParameters.map(({ name }) => name).join(', ')}>`
}
