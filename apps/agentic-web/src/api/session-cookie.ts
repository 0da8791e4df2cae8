// The cookie that says which browser asks. Scripts cannot read it, other sites cannot send it along with anything but a link.
//   - Over https its name begins with `__Host-`: browsers then accept it only with Secure, from this very host, for all of its paths.
import { SESSION_MS_MAX } from '../db/web-sessions.ts'

export interface CookieOptions {
  isSecure: boolean
}

export function sessionTokenOf(request: Request, options: CookieOptions): string | undefined {
  return readCookie(request, sessionName(options))
}

export function sessionCookie(token: string, options: CookieOptions): string {
  return setCookie(sessionName(options), token, SESSION_MS_MAX / 1000, options)
}

export function noSessionCookie(options: CookieOptions): string {
  return setCookie(sessionName(options), '', 0, options)
}

function sessionName({ isSecure }: CookieOptions): string {
  return isSecure ? '__Host-agentic' : 'agentic'
}

export function setCookie(name: string, value: string, maxAge: number, { isSecure }: CookieOptions): string {
  return `${name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
}

/** Ours are texts of base64url. */
export function readCookie(request: Request, name: string): string | undefined {
  const pairs = (request.headers.get('Cookie') ?? '').split(';').map((pair) => pair.trim())
  const value = pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
  return value && /^[\w-]{20,100}$/.test(value) ? value : undefined
}
