// The built page. Files with a hash in their name never change; the page itself is asked for each time.
import { readFile } from 'node:fs/promises'
import { extname, join, normalize, sep } from 'node:path'
import { PAGE_POLICY } from './security-headers.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
}

export async function staticFile(folder: string, path: string): Promise<Response> {
  const file = await contentOf(folder, path === '/' ? 'index.html' : path)
  // A path without a dot is a place within the page.
  if (file || extname(path) !== '') return file ?? new Response('not found', { status: 404 })
  return (await contentOf(folder, 'index.html')) ?? new Response(NOT_BUILT, { headers: { 'Content-Type': 'text/plain; charset=utf-8' } })
}

const NOT_BUILT = 'The page is not built. The API is at /api.\n'

async function contentOf(folder: string, path: string): Promise<Response | undefined> {
  const full = normalize(join(folder, path))
  if (!full.startsWith(folder + sep) || full.includes('\0')) return undefined
  const content = await readFile(full).catch(() => undefined)
  if (!content) return undefined
  const isHashed = /\/assets\//.test(full)
  return new Response(new Uint8Array(content), {
    headers: {
      'Content-Security-Policy': PAGE_POLICY,
      'Content-Type': TYPES[extname(full)] ?? 'application/octet-stream',
      'Cache-Control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    },
  })
}
