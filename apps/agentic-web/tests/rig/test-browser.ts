/** Keeps cookies, and follows no redirect by itself. */
export class TestBrowser {
  readonly #cookies = new Map<string, string>()

  constructor(...cookies: string[]) {
    for (const cookie of cookies) this.#keep(cookie)
  }

  async get(url: URL | string, headers: Record<string, string> = {}): Promise<Response> {
    const Cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { Cookie, ...headers } })
    for (const cookie of response.headers.getSetCookie()) this.#keep(cookie)
    return response
  }

  /** As it would be sent. */
  cookie(name: string): string {
    return `${name}=${this.#cookies.get(name) ?? ''}`
  }

  #keep(cookie: string): void {
    const [pair = ''] = cookie.split(';', 1)
    const at = pair.indexOf('=')
    this.#cookies.set(pair.slice(0, at), pair.slice(at + 1))
  }
}
