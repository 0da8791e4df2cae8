/** A page of another site may send requests here, but must not change anything. Programs send neither header. */
export function isForeign(request: Request): boolean {
  const site = request.headers.get('Sec-Fetch-Site')
  if (site !== null) return site !== 'same-origin' && site !== 'none'
  const origin = request.headers.get('Origin')
  return origin !== null && !(URL.canParse(origin) && new URL(origin).host === new URL(request.url).host)
}
