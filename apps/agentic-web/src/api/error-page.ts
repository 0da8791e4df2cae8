import { type HttpError, statusOf } from './http-error.ts'

/** For browsers that come as a whole page, not by a script. */
export function errorPage({ code, message }: HttpError): Response {
  const words = message.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>That did not work</title><h1>That did not work</h1><p>${words}</p><p><a href="/">Back to the app</a></p>`
  const headers = { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store', 'X-Error-Code': code }
  return new Response(html, { status: statusOf(code), headers })
}
