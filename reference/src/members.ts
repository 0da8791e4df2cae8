// The members of a symbol that the page shows.
import { type DeclarationReflection, ReflectionKind } from 'typedoc'
import { objectsIn } from './type-alias.ts'

/** Of an interface or a class, of a constant that is an object, and of the objects that a type is made of. */
export function membersOf(symbol: DeclarationReflection): DeclarationReflection[] {
  const objects = symbol.kind === ReflectionKind.TypeAlias || symbol.kind === ReflectionKind.Variable ? objectsIn(symbol) : [symbol]
  return objects.flatMap(({ children }) => children ?? []).filter(isShown)
}

/** `[Symbol.asyncDispose]` is for users, other symbols are not. */
function isShown({ flags, kind, name }: DeclarationReflection): boolean {
  const isInternal = name.startsWith('[') && !name.includes('ispose')
  return !flags.isPrivate && !flags.isExternal && !isInternal && kind !== ReflectionKind.Constructor
}

export function isCallable({ signatures, type }: DeclarationReflection): boolean {
  return signatures !== undefined || (type?.type === 'reflection' && type.declaration.signatures !== undefined)
}
