import type { DeclarationReflection } from 'typedoc'
import { summaryOf } from './comment.ts'
import { membersOf } from './members.ts'

/** The names of symbols and members whose comment has no sentence. */
export function unexplained(symbols: readonly DeclarationReflection[]): string[] {
  return symbols.flatMap((symbol) => {
    const members = membersOf(symbol).filter((member) => summaryOf(member) === '')
    return [...(summaryOf(symbol) === '' ? [symbol.name] : []), ...members.map(({ name }) => `${symbol.name}.${name}`)]
  })
}
