// A round-robin proxy in front of several APIs, for `--multi`: every request goes to the next one.
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'

/** `x-served-by` in the answer says which one it was, from 1. */
export function roundRobinProxy(ports: readonly number[]): Server {
  let turn = 0
  return createServer((incoming, outgoing) => {
    const index = turn++ % ports.length
    forward(incoming, outgoing, ports[index] ?? 0, index + 1)
  })
}

function forward(incoming: IncomingMessage, outgoing: ServerResponse, port: number, number: number): void {
  const { method, url, headers } = incoming
  const sent = request({ host: '127.0.0.1', port, method, path: url, headers, agent: false }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, { ...answer.headers, 'x-served-by': `api-${number}` })
    answer.pipe(outgoing)
    answer.once('error', () => outgoing.destroy())
  })
  sent.once('error', () => {
    if (outgoing.headersSent) outgoing.destroy()
    else outgoing.writeHead(502, { 'Content-Type': 'text/plain' }).end('the server behind this one does not answer')
  })
  outgoing.once('close', () => sent.destroy())
  incoming.pipe(sent)
}
