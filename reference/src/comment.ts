// The JSDoc of one symbol as Markdown.
import type { Comment } from 'typedoc'

/** What a sentence may stand in: a table cell has one line and escapes its borders. */
export const cell = (text: string): string =>
  text
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll('|', '\\|')
    .trim()

export function summaryOf(comment: Comment | undefined): string {
  return (comment?.summary ?? [])
    .map(({ text }) => text)
    .join('')
    .trim()
}

export function examplesOf(comment: Comment | undefined): string[] {
  const tags = (comment?.blockTags ?? []).filter(({ tag }) => tag === '@example')
  return tags.map(({ content }) =>
    content
      .map(({ text }) => text)
      .join('')
      .replaceAll(/^```\w*\n|\n```$/g, '')
      .trim(),
  )
}
