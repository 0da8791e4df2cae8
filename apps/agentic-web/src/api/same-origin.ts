// What a page of another site must not do: neither send requests that change something, nor reach this server under a name of its own that it lets point
// to this machine. There is no CORS, so it can read nothing either.
import type { AuthConfig } from '../config.ts'
import { HttpError } from './http-error.ts'

export interface OriginRules extends Pick<AuthConfig, 'mode' | 'publicUrl'> {
  /** The names under which the server may be reached; `*` for any. */
  hosts: ReadonlySet<string>
}

export function demandSameOrigin(request: Request, { hosts, mode, publicUrl }: OriginRules): void {
  const url = new URL(request.url)
  if (!hosts.has(url.hostname) && !hosts.has('*'))
    throw new HttpError('cross_origin', `this server does not answer for ${url.hostname}; add the name to ALLOWED_HOSTS`)
  if (request.method === 'GET' || request.method === 'HEAD') return
  const origin = request.headers.get('Origin')
  // Browsers send it with everything but GET. Where there are no cookies, programs on the same machine need not.
  const isMissing = origin === null && mode !== 'dev'
  const isForeign = origin !== null && !isOurs(origin, url, publicUrl)
  if (isMissing || isForeign || request.headers.get('Sec-Fetch-Site') === 'cross-site')
    throw new HttpError('cross_origin', isMissing ? 'send the header Origin' : 'a page of another site may not do this')
}

function isOurs(origin: string, url: URL, publicUrl: string | null): boolean {
  if (publicUrl !== null && origin === new URL(publicUrl).origin) return true
  // Under https somewhere in front, the scheme of the connection here says nothing.
  return publicUrl === null && URL.canParse(origin) && new URL(origin).host === url.host
}
