// Protection against cross-site request forgery: a request that changes something must come from the server's own pages, from an allowed
// origin, or from a program that is not a browser.
import { DurablyError } from '../model/errors.ts'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

export function refuseCrossSite(request: Request, allowedOrigins: ReadonlySet<string>): void {
  if (SAFE.has(request.method)) return
  const site = request.headers.get('Sec-Fetch-Site')
  const origin = request.headers.get('Origin')
  if (site === 'same-origin' || site === 'none') return
  if (origin !== null && allowedOrigins.has(origin)) return
  if (site === null && (origin === null || isOwn(origin, request))) return
  throw new DurablyError(
    'cross_site',
    `a page of ${origin ?? 'another site'} may not change anything here; allow its origin with allowedOrigins if it is yours`,
  )
}

/** Hosts are compared, not origins: behind a proxy that terminates TLS the server does not know its own scheme. */
function isOwn(origin: string, request: Request): boolean {
  return URL.canParse(origin) && new URL(origin).host === new URL(request.url).host
}
