import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { Markdown } from './markdown.tsx'

const html = (text: string) => renderToStaticMarkup(<Markdown text={text} />)

test('HTML is shown as text', () => {
  expect(html('a <img src=x onerror=alert(1)> b\n\n<script>alert(1)</script>')).not.toMatch(/<(img|script)/)
  expect(html('<b>bold</b>')).toContain('&lt;b&gt;bold')
})

test('nothing is loaded from elsewhere, and only links of the web can be followed', () => {
  expect(html('![a picture](https://example.com/x.png)')).toMatch(/<a href="https:\/\/example.com\/x.png"[^>]*>a picture<\/a>/)
  expect(html('[click](javascript:alert(1)) [file](file:///etc/passwd)')).not.toContain('href')
})

test('lists, tables, code and a fence that is not closed yet', () => {
  expect(html('- one\n- **two**')).toContain('<ul><li>one</li><li><strong>two</strong></li></ul>')
  expect(html('| a | b |\n| - | - |\n| 1 | 2 |')).toContain('<td style="text-align:start">2</td>')
  expect(html('```ts\nlet a <')).toContain('<code>let a &lt;</code>')
})
