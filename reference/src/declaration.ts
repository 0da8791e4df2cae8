// One exported symbol as a section of the page: its signature, what it means, and its members.
import { type DeclarationReflection, ReflectionKind, type SignatureReflection } from 'typedoc'
import { cell, examplesOf, summaryOf } from './comment.ts'

const code = (text: string) => `\`\`\`ts\n${text}\n\`\`\``
const inCode = (text: string) => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``)

export function section(symbol: DeclarationReflection, withoutInherited: boolean): string {
  const parts = [`### ${symbol.name}`, meaning(symbol), ...shape(symbol, withoutInherited)]
  return parts.filter((part) => part !== '').join('\n\n')
}

function meaning(symbol: DeclarationReflection): string {
  const comments = [symbol.comment, ...(symbol.signatures ?? []).map(({ comment }) => comment)]
  const text = comments.map(summaryOf).filter((summary) => summary !== '')
  const examples = comments.flatMap(examplesOf).map(code)
  return [...new Set(text), ...examples].join('\n\n')
}

function shape(symbol: DeclarationReflection, withoutInherited: boolean): string[] {
  if (symbol.kind === ReflectionKind.Function) return [code(signatures(symbol).join('\n'))]
  if (symbol.kind === ReflectionKind.Variable && symbol.type?.type === 'reflection')
    return members(symbol.type.declaration, withoutInherited)
  if (symbol.kind === ReflectionKind.Variable) return [code(`const ${symbol.name}: ${symbol.type}`)]
  if (symbol.kind === ReflectionKind.TypeAlias) return [code(`type ${symbol.name}${typeParameters(symbol)} =${typeText(symbol)}`)]
  return members(symbol, withoutInherited)
}

/** Types that are functions or objects are written out by hand: TypeDoc prints them as `Object` and `Function`. */
function typeText(symbol: DeclarationReflection): string {
  const { type } = symbol
  if (type?.type === 'reflection' && type.declaration.signatures)
    return type.declaration.signatures.map((one) => ` ${arrow(one)}`).join(' &')
  if (type?.type === 'union') return type.types.map((one) => `\n  | ${one}`).join('')
  return ` ${type}`
}

function members(symbol: DeclarationReflection, withoutInherited: boolean): string[] {
  const own = (symbol.children ?? []).filter((member) => isShown(member) && !(withoutInherited && member.inheritedFrom))
  const callable = own.filter((member) => member.signatures || isFunctionType(member))
  const plain = own.filter((member) => !callable.includes(member))
  const calls = (symbol.signatures ?? []).map((signature) => code(arrow(signature)))
  return [...calls, table(plain), ...callable.map(method)]
}

/** `[Symbol.asyncDispose]` is for users, other symbols are not. */
function isShown({ flags, kind, name }: DeclarationReflection): boolean {
  const isInternal = name.startsWith('[') && !name.includes('ispose')
  return !flags.isPrivate && !flags.isExternal && !isInternal && kind !== ReflectionKind.Constructor
}

function isFunctionType({ type }: DeclarationReflection): boolean {
  return type?.type === 'reflection' && type.declaration.signatures !== undefined
}

function table(members: readonly DeclarationReflection[]): string {
  if (members.length === 0) return ''
  const rows = members.map((member) => {
    const type = member.type ?? member.getSignature?.type
    const comment = member.comment ?? member.getSignature?.comment
    const name = `${member.name}${member.flags.isOptional ? '?' : ''}`
    return `| ${inCode(name)} | ${inCode(cell(String(type)))} | ${cell(summaryOf(comment))} |`
  })
  return ['| Name | Type | Meaning |', '| --- | --- | --- |', ...rows].join('\n')
}

function method(member: DeclarationReflection): string {
  return [`#### ${member.name}`, code(signatures(member).join('\n')), meaning(member)].filter((part) => part !== '').join('\n\n')
}

function signatures(symbol: DeclarationReflection): string[] {
  const own = symbol.signatures ?? (symbol.type?.type === 'reflection' ? symbol.type.declaration.signatures : undefined) ?? []
  return own.map((signature) => `${symbol.name}${symbol.flags.isOptional ? '?' : ''}${call(signature)}: ${signature.type}`)
}

const arrow = (signature: SignatureReflection) => `${call(signature)} => ${signature.type}`

function call(signature: SignatureReflection): string {
  const parameters = (signature.parameters ?? []).map(
    ({ name, type, flags, defaultValue }) =>
      `${flags.isRest ? '...' : ''}${name === '__namedParameters' ? 'options' : name}${flags.isOptional || defaultValue ? '?' : ''}: ${type}`,
  )
  return `${typeParameters(signature)}(${parameters.join(', ')})`
}

function typeParameters({ typeParameters = [] }: DeclarationReflection | SignatureReflection): string {
  return typeParameters.length === 0 ? '' : `<${typeParameters.map(({ name }) => name).join(', ')}>`
}
