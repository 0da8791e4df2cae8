// Serves a test page: a TypeScript file, bundled by Vite as a user's app would be, behind an empty document. Every path
// without an extension is that document, so a test can open tabs at different addresses of one origin.
//   - Each test file bundles its own, into a directory that git ignores; one page is bundled once per test file.
//   - `isolated` sends COOP and COEP. A port is an origin: servers of one page do not share its storage.
import { createReadStream, existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import sqlocal from 'sqlocal/vite'
import { build } from 'vite'

const ISOLATION = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' }
const TYPES: { [extension: string]: string } = { '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm' }
const DOCUMENT = '<!doctype html><meta charset="utf-8"><title>test</title><script type="module" src="/page.js"></script>'

export interface PageServer {
  /** Without a slash at its end. */
  origin: string
  close(): Promise<void>
}

const bundles = new Map<string, Promise<string>>()

/** The bundle of `entry`, a file URL; `name` is that of the test file. */
export function bundlePage(name: string, entry: URL): Promise<string> {
  const bundle = bundles.get(entry.href) ?? buildPage(name, entry)
  bundles.set(entry.href, bundle)
  return bundle
}

async function buildPage(name: string, entry: URL): Promise<string> {
  const outDir = fileURLToPath(new URL(`../../.tmp/page-${name}-${basename(entry.pathname, '.ts')}`, import.meta.url))
  await build({
    configFile: false,
    logLevel: 'error',
    plugins: [sqlocal()],
    build: {
      outDir,
      emptyOutDir: true,
      target: 'esnext',
      minify: false,
      rollupOptions: { input: fileURLToPath(entry), output: { entryFileNames: 'page.js' }, preserveEntrySignatures: false },
    },
  })
  return outDir
}

export async function servePage(bundle: string, { isolated }: { isolated: boolean }): Promise<PageServer> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname
    const extension = extname(path)
    const file = join(bundle, path)
    const found = extension === '' || existsSync(file)
    response.writeHead(found ? 200 : 404, { 'Content-Type': TYPES[extension] ?? 'text/html', ...(isolated && ISOLATION) })
    if (extension === '' || !found) response.end(found ? DOCUMENT : '')
    else createReadStream(file).pipe(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://localhost:${port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
