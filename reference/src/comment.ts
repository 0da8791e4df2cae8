// The JSDoc of one symbol as Markdown.
import type { Comment, CommentDisplayPart, DeclarationReflection } from 'typedoc'

export const code = (text: string): string => `\`\`\`ts\n${text}\n\`\`\``
export const inCode = (text: string): string => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``)

/** What a sentence may stand in: a table cell has one line and escapes its borders. */
export const cell = (text: string): string => oneLine(text).replaceAll('|', '\\|')

export const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' ').trim()

/** A symbol has its comment itself, on its signatures, on its getter, or on the function type that it has. */
function commentsOf({ comment, signatures, getSignature, type }: DeclarationReflection): Comment[] {
  const ofType = type?.type === 'reflection' ? (type.declaration.signatures ?? []) : []
  const comments = [comment, getSignature?.comment, ...[...(signatures ?? []), ...ofType].map((signature) => signature.comment)]
  return comments.filter((one) => one !== undefined)
}

/** Overloads may share one text. */
export function summaryOf(symbol: DeclarationReflection): string {
  const texts = commentsOf(symbol).map(({ summary }) => textOf(summary))
  return [...new Set(texts)].filter((text) => text !== '').join('\n\n')
}

export function textOf(parts: readonly CommentDisplayPart[]): string {
  return parts
    .map(({ text }) => text)
    .join('')
    .trim()
}

export function examplesOf(symbol: DeclarationReflection): string[] {
  const tags = commentsOf(symbol).flatMap(({ blockTags }) => blockTags.filter(({ tag }) => tag === '@example'))
  return tags.map(({ content }) => textOf(content).replaceAll(/^```\w*\n|\n```$/g, ''))
}
