// Types as TypeScript. Functions, objects and unions are written out by hand: TypeDoc prints the first two as `Object` and `Function`, and
// leaves out the comments of the alternatives of a union.
import type { DeclarationReflection, SomeType, UnionType } from 'typedoc'
import { oneLine, textOf } from './comment.ts'
import { arrow, typeParameters } from './signature.ts'

export function typeAlias(symbol: DeclarationReflection): string {
  return `type ${symbol.name}${typeParameters(symbol)} =${partsOf(symbol).map(partText).join(' &')}`
}

/** The objects that a type is made of. The members of each are listed below it. */
export function objectsIn(symbol: DeclarationReflection): DeclarationReflection[] {
  return partsOf(symbol).flatMap((part) => (part.type === 'reflection' && !part.declaration.signatures ? [part.declaration] : []))
}

function partsOf({ type }: DeclarationReflection): SomeType[] {
  if (!type) return []
  return type.type === 'intersection' ? type.types : [type]
}

function partText(part: SomeType, _: number, parts: readonly SomeType[]): string {
  if (part.type === 'reflection') return part.declaration.signatures?.map((one) => ` ${arrow(one)}`).join(' &') ?? ' { … }'
  if (part.type !== 'union') return ` ${part}`
  return parts.length === 1 ? unionText(part) : ` (${unionText(part)}\n)`
}

function unionText({ types, elementSummaries }: UnionType): string {
  const lines = types.flatMap((one, i) => {
    const summary = oneLine(textOf(elementSummaries?.[i] ?? []))
    return [...(summary === '' ? [] : [`// ${summary}`]), `| ${one}`]
  })
  return lines.map((line) => `\n  ${line}`).join('')
}
