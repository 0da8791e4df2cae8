// The files of the page: small, complete, and under a policy that allows nothing else.
import { gzipSync } from 'node:zlib'
import { dashboardPage } from '@coji/durably-ui/page'
import { expect, test } from 'vitest'

const BYTES_MAX = 80_000

const html = (options: Parameters<typeof dashboardPage>[0]) => String(dashboardPage(options)[0]?.body)

test('one page, one script, one style and an icon, at most 80 kB gzipped', () => {
  const files = dashboardPage({ api: '/api' })
  expect(files.map(({ path }) => path)).toEqual(['index.html', 'dashboard.js', 'dashboard.css', 'icon.svg'])
  const bytes = files.reduce((sum, { body }) => sum + gzipSync(body, { level: 9 }).length, 0)
  expect(bytes).toBeLessThanOrEqual(BYTES_MAX)
})

test('the page has no code of its own, and its policy allows none', () => {
  const page = html({ api: '/api' })
  expect(page).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
  expect(page).not.toMatch(/unsafe-|<style|<script(?! type="module" src=)|\son\w+=|\sstyle=/)
})

test('only the server of the runs may be asked, on another origin too', () => {
  expect(html({ api: '/api' })).toContain("connect-src 'self';")
  expect(html({ api: 'https://runs.example.com/api' })).toContain("connect-src 'self' https://runs.example.com;")
})

test('what is put into the page is escaped', () => {
  expect(html({ api: '/a"><script>alert(1)</script>', base: '/b"/' })).toContain('content="/a&quot;>&lt;script>alert(1)&lt;/script>"')
})

test('a base without a slash at its end, and an api that is no address, are refused', () => {
  expect(() => dashboardPage({ api: '/api', base: '/admin' })).toThrow(
    'base must end with a slash, such as "/admin/durably/", got "/admin"',
  )
  expect(() => dashboardPage({ api: 'http://' })).toThrow('api must be the path or URL of the server')
})
