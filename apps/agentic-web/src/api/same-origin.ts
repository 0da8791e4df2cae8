// There is no sign-in yet, so everything that reaches the server may use it. A page of another site must not: neither by a request from
// there, nor by a name of its own that it lets point to this machine.
import { HttpError } from './http-error.ts'

export function demandSameOrigin(request: Request, hosts: ReadonlySet<string>): void {
  const url = new URL(request.url)
  if (!hosts.has(url.hostname) && !hosts.has('*'))
    throw new HttpError('cross_origin', `this server does not answer for ${url.hostname}; add the name to ALLOWED_HOSTS`)
  if (request.method === 'GET' || request.method === 'HEAD') return
  const origin = request.headers.get('Origin')
  const isForeign = origin !== null && (!URL.canParse(origin) || new URL(origin).host !== url.host)
  if (isForeign || request.headers.get('Sec-Fetch-Site') === 'cross-site')
    throw new HttpError('cross_origin', 'a page of another site may not do this')
}
