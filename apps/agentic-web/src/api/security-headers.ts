// Headers of every answer.
import type { MiddlewareHandler } from 'hono'

/** Scripts and styles are files of this origin; nothing is inline, nothing comes from elsewhere, nobody frames the page. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'; form-action 'none'; base-uri 'none'"

export function securityHeaders({ isSecure }: { isSecure: boolean }): MiddlewareHandler {
  return async (c, next) => {
    await next()
    const { headers } = c.res
    if (!headers.has('Content-Security-Policy')) headers.set('Content-Security-Policy', DATA_POLICY)
    headers.set('X-Content-Type-Options', 'nosniff')
    headers.set('Referrer-Policy', 'no-referrer')
    headers.set('Cross-Origin-Resource-Policy', 'same-origin')
    if (isSecure) headers.set('Strict-Transport-Security', 'max-age=31536000')
  }
}
