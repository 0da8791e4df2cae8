// Markdown of a model as elements of the page. HTML in it is shown as the text that it is, and nothing is loaded from elsewhere: an image
// becomes a link.
import { lexer, type MarkedToken, type Token, type Tokens } from 'marked'
import { memo, type ReactNode, useDeferredValue, useMemo } from 'react'
import { inOrder } from './in-order.ts'

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const shown = useDeferredValue(text)
  const tokens = useMemo(() => lexer(shown), [shown])
  return <div className="markdown">{all(tokens)}</div>
})

function all(tokens: readonly Token[] = []): ReactNode {
  return inOrder(tokens, (token) => <Element token={token as MarkedToken} />)
}

function Element({ token }: { token: MarkedToken }): ReactNode {
  switch (token.type) {
    case 'paragraph':
      return <p>{all(token.tokens)}</p>
    case 'heading':
      return <Heading token={token} />
    case 'code':
      return <CodeBlock code={token.text} language={token.lang ?? ''} />
    case 'list':
      return <List token={token} />
    case 'table':
      return <Table token={token} />
    case 'blockquote':
      return <blockquote>{all(token.tokens)}</blockquote>
    case 'hr':
      return <hr />
    case 'strong':
      return <strong>{all(token.tokens)}</strong>
    case 'em':
      return <em>{all(token.tokens)}</em>
    case 'del':
      return <del>{all(token.tokens)}</del>
    case 'codespan':
      return <code>{token.text}</code>
    case 'br':
      return <br />
    case 'link':
      return <Link href={token.href}>{all(token.tokens)}</Link>
    case 'image':
      return <Link href={token.href}>{token.text || token.href}</Link>
    case 'text':
      return token.tokens ? all(token.tokens) : token.text
    case 'escape':
      return token.text
    case 'space':
    case 'def':
    case 'checkbox':
      return null
    default:
      return token.raw
  }
}

/** The page has headings of its own above these. */
function Heading({ token }: { token: Tokens.Heading }) {
  const Level = token.depth === 1 ? 'h3' : token.depth === 2 ? 'h4' : 'h5'
  return <Level>{all(token.tokens)}</Level>
}

function List({ token: { ordered, start, items } }: { token: Tokens.List }) {
  const shown = inOrder(items, (item) => (
    <li>
      {item.task && <input type="checkbox" checked={item.checked ?? false} disabled aria-label={item.checked ? 'done' : 'not done'} />}
      {all(item.tokens)}
    </li>
  ))
  return ordered ? <ol start={start === '' ? 1 : start}>{shown}</ol> : <ul>{shown}</ul>
}

function Table({ token: { header, rows } }: { token: Tokens.Table }) {
  const cells = (row: Tokens.TableCell[], Cell: 'th' | 'td') =>
    inOrder(row, ({ tokens, align }) => <Cell style={{ textAlign: align ?? 'start' }}>{all(tokens)}</Cell>)
  return (
    <div className="wide">
      <table>
        <thead>
          <tr>{cells(header, 'th')}</tr>
        </thead>
        <tbody>
          {inOrder(rows, (row) => (
            <tr>{cells(row, 'td')}</tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function CodeBlock({ code, language }: { code: string; language: string }) {
  return (
    <pre className="code" data-language={language || undefined}>
      <code>{code}</code>
    </pre>
  )
}

function Link({ href, children }: { href: string; children: ReactNode }) {
  if (!/^(https?:|mailto:)/i.test(href)) return children
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}
