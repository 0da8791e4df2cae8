// One exported symbol as a section of the page: its signature, what it means, and its members.
import { type DeclarationReflection, ReflectionKind } from 'typedoc'
import { cell, code, examplesOf, inCode, summaryOf } from './comment.ts'
import { isCallable, membersOf } from './members.ts'
import { arrow, signatures } from './signature.ts'
import { objectsIn, typeAlias } from './type-alias.ts'

export function section(symbol: DeclarationReflection, withoutInherited: boolean): string {
  const members = membersOf(symbol).filter(({ inheritedFrom }) => !(withoutInherited && inheritedFrom))
  const methods = members.filter(isCallable)
  const plain = members.filter((member) => !methods.includes(member))
  const parts = [`### ${symbol.name}`, meaning(symbol), ...head(symbol), table(plain), ...methods.map(method)]
  return parts.filter((part) => part !== '').join('\n\n')
}

function meaning(symbol: DeclarationReflection): string {
  return [summaryOf(symbol), ...examplesOf(symbol).map(code)].filter((part) => part !== '').join('\n\n')
}

/** What stands before the members. */
function head(symbol: DeclarationReflection): string[] {
  switch (symbol.kind) {
    case ReflectionKind.Function:
      return [code(signatures(symbol).join('\n'))]
    case ReflectionKind.Variable:
      return objectsIn(symbol).length > 0 ? [] : [code(`const ${symbol.name}: ${symbol.type}`)]
    case ReflectionKind.TypeAlias:
      return [code(typeAlias(symbol))]
    default:
      return (symbol.signatures ?? []).map((signature) => code(arrow(signature)))
  }
}

function table(members: readonly DeclarationReflection[]): string {
  if (members.length === 0) return ''
  const rows = members.map((member) => {
    const type = member.type ?? member.getSignature?.type
    const name = `${member.name}${member.flags.isOptional ? '?' : ''}`
    return `| ${inCode(name)} | ${inCode(cell(String(type)))} | ${cell(summaryOf(member))} |`
  })
  return ['| Name | Type | Meaning |', '| --- | --- | --- |', ...rows].join('\n')
}

function method(member: DeclarationReflection): string {
  return [`#### ${member.name}`, code(signatures(member).join('\n')), meaning(member)].filter((part) => part !== '').join('\n\n')
}
